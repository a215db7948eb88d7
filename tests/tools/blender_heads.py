"""Run by a Python that has bpy: imports a GLB or FBX and prints, as JSON, where bones and objects are at given frames.

    python blender_heads.py FILE FPS FRAME [FRAME ...]
    python blender_heads.py FILE FPS --to OTHER.fbx OPTIONS

Output: {"bones": {armature: {bone: [[x, y, z] per frame]}}, "objects": {name: [[x, y, z] per frame]}}, with Z up, and
for FBX {"skins": {name: [[[x, y, z] per vertex] per frame]}}. With --to the file is exported as FBX, in place of
that; OPTIONS of the exporter are JSON.
"""

import json
import os
import sys


def main() -> None:
    import bpy

    path, fps = sys.argv[1], float(sys.argv[2])
    to = sys.argv[4] if sys.argv[3] == "--to" else None
    frames = [int(f) for f in sys.argv[3:]] if to is None else []
    fbx = path.endswith(".fbx")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # the importer turns seconds into Blender frames by the scene's rate, so that frame k is our frame k
    bpy.context.scene.render.fps = round(fps)
    bpy.context.scene.render.fps_base = round(fps) / fps
    if fbx:
        bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0)
    else:
        bpy.ops.import_scene.gltf(filepath=path, disable_bone_shape=True)
    scene = bpy.context.scene
    if to is not None:
        ends = [a.frame_range for a in bpy.data.actions]
        scene.frame_start, scene.frame_end = 0, round(max((e[1] for e in ends), default=0))
        given = {k: set(v) if isinstance(v, list) else v for k, v in json.loads(sys.argv[5]).items()}
        options = {"add_leaf_bones": False, "bake_anim_simplify_factor": 0.0} | given
        bpy.ops.export_scene.fbx(filepath=to, **options)
    bones = {o.name: {b.name: [] for b in o.pose.bones} for o in scene.objects if o.type == "ARMATURE"}
    objects = {o.name: [] for o in scene.objects if o.type == "MESH"}
    skins = {name: [] for name in objects if fbx}
    for frame in frames:
        scene.frame_set(frame)
        for armature, heads in bones.items():
            thing = scene.objects[armature]
            for bone, places in heads.items():
                places.append(list(thing.matrix_world @ thing.pose.bones[bone].head))
        for name, places in objects.items():
            places.append(list(scene.objects[name].matrix_world.translation))
        seen = bpy.context.evaluated_depsgraph_get()
        for name, places in skins.items():
            thing = scene.objects[name].evaluated_get(seen)
            places.append([list(thing.matrix_world @ v.co) for v in thing.data.vertices])
    json.dump({"bones": bones, "objects": objects, "skins": skins}, result)
    result.flush()
    os._exit(0)  # Blender's own shutdown can crash without a screen, after all is said


if __name__ == "__main__":
    # the importer prints on standard output: keep a copy of it for the result alone
    result = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main()
