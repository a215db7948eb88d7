#version 330
#include light
uniform vec3 eye;
uniform float alpha;
in vec3 position;
in vec3 normal;
in vec3 color;
in vec2 uv;
uniform sampler2D picture;
out vec4 result;

float fourth(float x) { return (x * x) * (x * x); }

vec3 srgb(vec3 c) {
    // sRGB within a few thousandths by square roots, which cost a fraction of pow where there is no graphics card
    vec3 s = sqrt(c), q = sqrt(s), o = sqrt(q);
    return 0.585122381 * s + 0.783140355 * q - 0.368262736 * o;
}

void main() {
    vec3 n = normalize(normal);
    vec3 to_eye = normalize(eye - position);
    if (dot(n, to_eye) < 0.0 && !gl_FrontFacing) n = -n;
    float facing = dot(n, key_direction);
    float wrapped = max(0.0, (facing + 0.15) / 1.15);
    float key = wrapped > 0.0 ? wrapped * key_light(position, n) : 0.0;
    float sky = sky_light(position, n);
    vec3 above = vec3(0.95, 0.98, 1.05), below = vec3(0.60, 0.57, 0.54);
    vec3 ambient = mix(below, above, 0.5 + 0.5 * n.z) * mix(0.35, 1.0, sky);
    float fill = max(0.0, dot(n, normalize(to_eye + vec3(0.0, 0.0, 0.3))));
    vec3 halfway = normalize(key_direction + to_eye);
    float shine = fourth(fourth(max(0.0, dot(n, halfway)))) * key;
    float rim = fourth(1.0 - max(0.0, dot(n, to_eye))) * mix(0.3, 1.0, sky);
    vec3 light = color * texture(picture, uv).rgb * (vec3(1.0, 0.965, 0.91) * 0.88 * key + 0.34 * ambient + 0.07 * fill);
    light += 0.05 * shine + 0.04 * rim * above;
    light = light / (1.0 + 0.18 * light);                          // a soft shoulder for the highlights
    result = vec4(srgb(clamp(light, 0.0, 1.0)), alpha);
}
