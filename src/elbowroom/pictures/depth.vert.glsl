#version 330
// Depth only, seen from a light.
uniform mat4 clip_from_world;
uniform mat4 model;
in vec3 in_position;
invariant gl_Position;            // both passes must come to the same depth
out vec3 position;
void main() {
    vec4 world = model * vec4(in_position, 1.0);
    position = world.xyz;
    gl_Position = clip_from_world * world;
}
