// Light shared by surfaces and ground: how much of the key light and of the sky a point sees.
uniform mat4 key_from_world;      // to texture coordinates and depth in 0..1
uniform mat4 sky_from_world;
uniform sampler2DShadow key_map;
uniform sampler2D sky_map;
uniform vec3 key_direction;       // towards the light
uniform float key_blur;           // how far shadows' edges are spread, in texture coordinates
uniform float sky_radius;         // half a metre in texture coordinates of the sky map
uniform float sky_depth;          // metres spanned by the depth of the sky map

const vec2 DISC[12] = vec2[](
    vec2(-0.326, -0.406), vec2(-0.840, -0.074), vec2(-0.696, 0.457), vec2(-0.203, 0.621),
    vec2(0.962, -0.195), vec2(0.473, -0.480), vec2(0.519, 0.767), vec2(0.185, -0.893),
    vec2(0.507, 0.064), vec2(0.896, 0.412), vec2(-0.322, -0.933), vec2(-0.792, -0.598));

mat2 turned(vec2 pixel) {
    // A different turn of the disc for every pixel trades banding for fine grain (interleaved gradient noise).
    float a = 6.2832 * fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
    return mat2(cos(a), sin(a), -sin(a), cos(a));
}

float key_light(vec3 point, vec3 n) {
    // moved off the surface by more than the blur reaches, or a surface would shade itself
    float grazing = 1.0 - clamp(dot(n, key_direction), 0.0, 1.0);
    vec3 at = (key_from_world * vec4(point + (0.012 + 0.03 * grazing) * n, 1.0)).xyz;
    at.z -= 0.0004;
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
    mat2 turn = turned(gl_FragCoord.xy);
    float lit = 0.0;
    for (int i = 0; i < 4; i++) lit += texture(key_map, vec3(at.xy + turn * DISC[3 * i] * key_blur, at.z));
    if (lit < 0.01 || lit > 3.99) return 0.25 * lit;
    for (int i = 0; i < 4; i++) {
        lit += texture(key_map, vec3(at.xy + turn * DISC[3 * i + 1] * key_blur, at.z));
        lit += texture(key_map, vec3(at.xy + turn * DISC[3 * i + 2] * key_blur, at.z));
    }
    return lit / 12.0;
}

float sky_light(vec3 point, vec3 n) {
    // The sky map holds heights seen from above; what stands higher than the line of sight around a point hides sky.
    // The sky before a wall counts, not the sky behind it, so the disc is moved off the surface.
    vec3 at = (sky_from_world * vec4(point + vec3(0.3, 0.3, 0.02) * n, 1.0)).xyz;
    if (any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at.xy, vec2(1.0)))) return 1.0;
    mat2 turn = turned(gl_FragCoord.xy + 17.0);
    float hidden = 0.0;
    for (int i = 0; i < 8; i++) {
        vec2 step = turn * DISC[i];
        float above = (at.z - texture(sky_map, at.xy + step * sky_radius).r) * sky_depth;
        float reach = 0.5 * length(step) + 0.02;
        hidden += above > 0.0 ? above / (above + reach) : 0.0;
    }
    return 1.0 - hidden / 8.0;
}
