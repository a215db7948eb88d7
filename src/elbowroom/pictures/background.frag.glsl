#version 330
in float height;
out vec4 result;
void main() {
    result = vec4(mix(vec3(0.80, 0.805, 0.81), vec3(0.945, 0.95, 0.955), smoothstep(0.1, 1.0, height)), 1.0);
}
