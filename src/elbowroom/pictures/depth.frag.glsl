#version 330
uniform float ceiling;            // metres; what is higher casts no shadow
in float height;
void main() { if (height > ceiling) discard; }
