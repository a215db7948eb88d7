"""A robot as URDF text: an arm of six hinges with a two-fingered gripper, on a trolley."""

from __future__ import annotations

from pathlib import Path

import trimesh

_INERTIA = '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/>'
_ARM = [  # name, type, parent, child, origin, axis, limits
    ("pan", "continuous", "trolley", "shoulder", "0.1 0 0.4", "0 0 1", ""),
    ("lift", "revolute", "shoulder", "upper", "0 0.05 0.1", "0 1 0", "-2 2"),
    ("bend", "revolute", "upper", "fore", "0 0 0.4", "0 1 0", "0.2 2.5"),
    ("roll", "revolute", "fore", "wrist", "0 0 0.3", "0 0 1", "-3 3"),
    ("tilt", "revolute", "wrist", "flange", "0 0 0.08", "1 0 0.2", "-2 2"),
    ("spin", "revolute", "flange", "hand", "0 0 0.06", "0 0 1", "-3 3"),
    ("left", "prismatic", "hand", "finger_a", "0 0.02 0.1", "0 1 0", "0 0.04"),
    ("right", "prismatic", "hand", "finger_b", "0 -0.02 0.1", "0 -1 0", "0 0.04"),
    ("tip", "fixed", "hand", "tool", "0 0 0.15", "", ""),
]  # fmt: skip
_SHAPES = {
    "trolley": ('<box size="0.6 0.5 0.4"/>', "0 0 0.2"),
    "shoulder": ('<cylinder radius="0.07" length="0.1"/>', "0 0 0.05"),
    "upper": ('<cylinder radius="0.05" length="0.35"/>', "0 0 0.2"),
    "fore": ('<mesh filename="package://arms/meshes/fore.stl" scale="0.001 0.001 0.001"/>', "0 0 0.15"),
    "wrist": ('<sphere radius="0.05"/>', "0 0 0"),
    "hand": ('<box size="0.08 0.1 0.06"/>', "0 0 0.04"),
    "finger_a": ('<box size="0.02 0.01 0.06"/>', "0 0 0.03"),
    "finger_b": ('<box size="0.02 0.01 0.06"/>', "0 0 0.03"),
}


def urdf_text() -> str:
    """The robot's URDF; its mesh is looked for in a package."""
    parts = ['<robot name="porter">']
    for link in dict.fromkeys(["trolley", *(row[3] for row in _ARM)]):
        parts.append(f'<link name="{link}">')
        if link in _SHAPES:
            shape, at = _SHAPES[link]
            parts.append(f'<inertial><origin xyz="{at}"/><mass value="1.5"/>{_INERTIA}</inertial>')
            parts.append(f'<collision><origin xyz="{at}"/><geometry>{shape}</geometry></collision>')
            parts.append('<visual><geometry><mesh filename="package://nowhere/seen.dae"/></geometry></visual>')
        parts.append("</link>")
    for name, kind, parent, child, at, axis, limit in _ARM:
        parts.append(f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>')
        parts.append(f'<origin xyz="{at}" rpy="0.1 0 0.2"/>')
        parts.append(f'<axis xyz="{axis}"/>' if axis else "")
        if limit:
            low, high = limit.split()
            parts.append(f'<limit lower="{low}" upper="{high}" effort="9" velocity="2"/>')
        parts.append("</joint>")
    return "\n".join([*parts, "</robot>"])


def write_robot(folder: Path) -> Path:
    """The URDF with its mesh, as packages are laid out; returns the URDF's path."""
    (folder / "arms" / "meshes").mkdir(parents=True)
    (folder / "arms" / "urdf").mkdir()
    trimesh.creation.box([60, 60, 300]).export(folder / "arms" / "meshes" / "fore.stl")
    path = folder / "arms" / "urdf" / "porter.urdf"
    path.write_text(urdf_text())
    return path
