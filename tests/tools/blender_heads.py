"""Run by a Python that has bpy: imports a GLB and prints, as JSON, where bones and objects are at given frames.

    python blender_heads.py FILE FPS FRAME [FRAME ...]

Output: {"bones": {armature: {bone: [[x, y, z] per frame]}}, "objects": {name: [[x, y, z] per frame]}}, with Z up.
"""

import json
import os
import sys


def main() -> None:
    import bpy

    path, fps, frames = sys.argv[1], float(sys.argv[2]), [int(f) for f in sys.argv[3:]]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # the importer turns seconds into Blender frames by the scene's rate, so that frame k is our frame k
    bpy.context.scene.render.fps = round(fps)
    bpy.context.scene.render.fps_base = round(fps) / fps
    bpy.ops.import_scene.gltf(filepath=path)
    scene = bpy.context.scene
    bones = {o.name: {b.name: [] for b in o.pose.bones} for o in scene.objects if o.type == "ARMATURE"}
    objects = {o.name: [] for o in scene.objects if o.type == "MESH"}
    for frame in frames:
        scene.frame_set(frame)
        for armature, heads in bones.items():
            thing = scene.objects[armature]
            for bone, places in heads.items():
                places.append(list(thing.matrix_world @ thing.pose.bones[bone].head))
        for name, places in objects.items():
            places.append(list(scene.objects[name].matrix_world.translation))
    json.dump({"bones": bones, "objects": objects}, result)
    result.flush()
    os._exit(0)  # Blender's own shutdown can crash without a screen, after all is said


if __name__ == "__main__":
    # the importer prints on standard output: keep a copy of it for the result alone
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main()
