#version 330
in vec2 in_position;
out float height;
void main() {
    height = 0.5 + 0.5 * in_position.y;
    gl_Position = vec4(in_position, 0.0, 1.0);
}
