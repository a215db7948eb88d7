#version 330
uniform float ceiling;            // metres; what is higher casts no shadow
uniform vec4 curtain;             // beyond this plane and above its foot nothing is drawn
uniform float curtain_foot;
in vec3 position;
void main() {
    if (position.z > ceiling) discard;
    if (dot(curtain.xyz, position) > curtain.w && position.z > curtain_foot) discard;
}
