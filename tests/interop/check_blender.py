"""Imports DIR/frames/NAME.obj, moves it by NAME.pc2 (Mesh Cache modifier), and compares with the OBJ series beside it.

usage: blender --background --factory-startup --python-exit-code 1 --python check_blender.py -- DIR NAME
"""
import os
import sys

import bpy


def check(condition, text):
    if not condition:
        raise SystemExit(f"check_blender: {text}")


def vertices_of(path, name):
    """Vertices of object `name` in an OBJ file, read by hand."""
    vertices, inside = [], False
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, *rest = line.split() or [""]
            if word == "o":
                inside = rest[0] == name
            elif word == "v" and inside:
                vertices.append([float(value) for value in rest])
    return vertices


def import_body(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")
    check(len(bpy.data.objects) == 1, f"{path}: {len(bpy.data.objects)} objects")
    return bpy.data.objects[0]


def main(directory, name):
    folder = os.path.join(directory, "frames")
    body = import_body(os.path.join(folder, name + ".obj"))
    cache = body.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = os.path.join(folder, name + ".pc2")
    cache.frame_start = 0
    frames = sorted(f for f in os.listdir(folder) if f.startswith("frame_") and f.endswith(".obj"))
    check(len(frames) > 1, "no OBJ frames to compare with")
    moved = 0.0
    for index in (0, len(frames) // 2, len(frames) - 1):
        bpy.context.scene.frame_set(index)
        mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        expected = vertices_of(os.path.join(folder, frames[index]), name)
        check(len(mesh.vertices) == len(expected), f"{frames[index]}: {len(mesh.vertices)} vertices, not {len(expected)}")
        for i, vertex in enumerate(mesh.vertices):
            error = max(abs(a - b) for a, b in zip(vertex.co, expected[i]))
            check(error <= 1e-6 * (1 + max(map(abs, expected[i]))), f"{frames[index]}: vertex {i} is off by {error}")
            moved = max(moved, max(abs(a - b) for a, b in zip(vertex.co, body.data.vertices[i].co)))
    check(moved > 0, "nothing moves")
    print(f"Blender: {len(frames)} frames, {len(body.data.vertices)} vertices, {len(body.data.polygons)} faces, "
          f"{len(body.data.edges)} edges: as in the OBJ series, largest displacement {moved:.3g} m")


main(*sys.argv[sys.argv.index("--") + 1:])
