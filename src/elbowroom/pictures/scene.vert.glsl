#version 330
uniform mat4 clip_from_world;
uniform mat4 model;
in vec3 in_position;
invariant gl_Position;            // both passes must come to the same depth
in vec3 in_normal;
in vec3 in_color;
in vec2 in_uv;
out vec3 position;
out vec3 normal;
out vec3 color;
out vec2 uv;
void main() {
    vec4 world = model * vec4(in_position, 1.0);
    position = world.xyz;
    normal = mat3(model) * in_normal;
    color = in_color;
    uv = in_uv;
    gl_Position = clip_from_world * world;
}
