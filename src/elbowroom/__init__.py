"""elbowroom: plan and repair collision-free motion for characters in cluttered scenes.

    import elbowroom as er

    ann = er.human(height=1.70)
    walk = er.walk(ann, speed=1.2, seconds=5)
    er.save(["walk.glb", "walk.bvh"], er.World().with_character("ann", walk))

The names below are the public ones; everything else may change. They are loaded on first use, so that importing the
package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name: module that defines it.
_HOME = {
    # people and rigs
    "human": "character.human",
    "preset": "character.human",
    "PRESETS": "character.human",
    "mobile_arm": "character.robot",
    "as_character": "character.rig",
    "Character": "character.body",
    "Skeleton": "character.skeleton",
    "Pose": "character.skeleton",
    "Dynamics": "character.dynamics",
    "marker_positions": "character.markers",
    # motion
    "Clip": "motion.clip",
    "Motion": "motion.clip",
    "Layer": "motion.layers",
    "Edit": "world.edit",
    "to_clip": "motion.layers",
    "cut": "motion.edit",
    "splice": "motion.edit",
    "resample": "motion.edit",
    "place": "motion.edit",
    "mirror": "motion.edit",
    "retarget": "motion.retarget",
    "foot_contacts": "motion.contacts",
    "posture_database": "files.clip_library",
    "recorded_postures": "motion.recorded",
    # built-in clips
    "idle": "locomotion.standing",
    "walk": "locomotion.walk",
    "run": "locomotion.walk",
    "walk_to_run": "locomotion.walk",
    "walk_along": "locomotion.walk",
    "clip_library": "files.clip_library",
    "read_clip_library": "files.clip_library",
    "write_clip_library": "files.clip_library",
    "recorded_cycles": "locomotion.library_arrays",
    # the world
    "World": "world.world",
    "Mesh": "geometry.mesh",
    "Contact": "world.contacts",
    "Fixture": "world.things",
    "Joint": "world.things",
    "certify": "world.certificate",
    "Caps": "world.contacts",
    # hands
    "hand_shape": "character.hand_shapes",
    "propose_grasps": "posing.grasps",
    "reach": "posing.reach",
    # the whole body
    "WholeBody": "posing.whole_body",
    "support_of": "posing.whole_body",
    "solve_markers": "posing.marker_solve",
    # tasks
    "plan_tasks": "plan.manipulate",
    "Plan": "plan.state.result",
    "prove": "plan.prove",
    "Settings": "plan.state.settings",
    "Reach": "plan.tasks",
    "Support": "plan.tasks",
    "Knee": "plan.tasks",
    "Grab": "plan.tasks",
    "Put": "plan.tasks",
    "Move": "plan.tasks",
    "Carry": "plan.tasks",
    "Touch": "plan.tasks",
    "Press": "plan.tasks",
    "Open": "plan.tasks",
    "Close": "plan.tasks",
    "Rest": "plan.tasks",
    "Drop": "plan.tasks",
    "HoldOut": "plan.tasks",
    "Handover": "plan.tasks",
    "Regrasp": "plan.tasks",
    "repair": "plan.repair.repair",
    "repair_variants": "plan.variants",
    "Style": "spaces.styles",
    "read_storyboard": "storyboard.storyboard",
    "plan_storyboard": "storyboard.plan",
    # files
    "open_file": "files.open",
    "save": "files.save",
    "verify": "files.verify",
    "read_bvh": "files.bvh",
    "write_bvh": "files.bvh",
    "read_asf": "files.asf_amc",
    "read_amc": "files.asf_amc",
    "read_c3d": "files.c3d",
    "read_glb": "files.glb_read",
    "write_glb": "files.glb_write",
    "read_npz": "files.npz",
    "write_npz": "files.npz",
    "write_usd": "files.usd",
    "write_html": "files.html",
    "read_scene": "files.open",
    "read_urdf": "files.urdf",
    # reports
    "Report": "report.measure",
    "write_report": "report.page",
    # pictures
    "still": "pictures.images",
    "strip": "pictures.images",
    "film": "pictures.images",
    # errors
    "ElbowroomError": "errors",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'elbowroom' has no attribute '{name}'")
    return getattr(import_module(f"elbowroom.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
