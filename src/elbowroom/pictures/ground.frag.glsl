#version 330
#include light
uniform vec3 center;
uniform float radius;
in vec3 position;
out vec4 result;

float lines(vec2 at, float width) {
    // Lines `width` metres wide at whole numbers, at least a pixel, fading where they would crowd.
    vec2 pixel = fwidth(at);
    vec2 away = abs(fract(at - 0.5) - 0.5);
    vec2 drawn = max(vec2(width), pixel);
    vec2 ink = (1.0 - smoothstep(drawn * 0.5, drawn * 0.5 + pixel, away)) * clamp(width / drawn * 2.0, 0.0, 1.0);
    ink *= 1.0 - smoothstep(0.15, 0.5, pixel);
    return max(ink.x, ink.y);
}

void main() {
    vec3 up = vec3(0.0, 0.0, 1.0);
    float fade = 1.0 - smoothstep(0.35, 1.0, length(position.xy - center.xy) / radius);
    float key = key_light(position, up);
    float sky = sky_light(position, up);
    float light = 0.46 * mix(0.25, 1.0, sky) + 0.54 * mix(0.12, 1.0, key);
    vec3 color = vec3(0.81, 0.815, 0.82) * mix(1.0, 0.90, lines(position.xy, 0.012));
    color = mix(color * 0.62, color, light);
    result = vec4(color, fade);
}
