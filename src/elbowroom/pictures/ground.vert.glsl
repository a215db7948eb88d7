#version 330
uniform mat4 clip_from_world;
uniform vec3 center;
uniform float radius;
in vec2 in_position;
out vec3 position;
void main() {
    position = center + vec3(in_position * radius, 0.0);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
