"""Imports DIR/frames/NAME.obj, moves it by NAME.pc2 (Mesh Cache modifier), and compares with the OBJ series beside it.
With GIVEN, the OBJ file that the body was made from: polygons, texture coordinates and materials are those of GIVEN.

usage: blender --background --factory-startup --python-exit-code 1 --python check_blender.py -- DIR NAME [GIVEN]
"""
import os
import sys

import bpy


def check(condition, text):
    if not condition:
        raise SystemExit(f"check_blender: {text}")


def vertices_of(path):
    """Vertices of an OBJ file of one body, read by hand."""
    with open(path, encoding="utf-8") as file:
        return [[float(value) for value in line.split()[1:]] for line in file if line.startswith("v ")]


def faces_of(path):
    """Vertices, texture coordinates and material of every face of an OBJ file, read by hand."""
    texture, faces, material = [], [], None
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.strip().partition(" ")
            if word == "vt":
                texture.append([float(value) for value in rest.split()])
            elif word == "usemtl":
                material = rest
            elif word == "f":
                corners = [[int(number) - 1 for number in corner.split("/")[:2]] for corner in rest.split()]
                faces.append(([v for v, _ in corners], [texture[t] for _, t in corners], material))
    return faces


def import_body(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")
    check(len(bpy.data.objects) == 1, f"{path}: {len(bpy.data.objects)} objects")
    return bpy.data.objects[0]


def check_faces(mesh, given):
    faces = faces_of(given)
    check(len(mesh.polygons) == len(faces), f"{len(mesh.polygons)} faces, {len(faces)} in {given}")
    check(len(mesh.uv_layers) == 1, f"{len(mesh.uv_layers)} layers of texture coordinates")
    layer = mesh.uv_layers[0].data
    for polygon, (vertices, texture, material) in zip(mesh.polygons, faces):
        check(list(polygon.vertices) == vertices, f"face {polygon.index} is {list(polygon.vertices)}, not {vertices}")
        check(mesh.materials[polygon.material_index].name == material, f"face {polygon.index} is not of {material}")
        for loop, expected in zip(polygon.loop_indices, texture):
            error = max(abs(a - b) for a, b in zip(layer[loop].uv, expected))
            check(error < 1e-6, f"a corner of face {polygon.index} is at {layer[loop].uv} of the texture, not {expected}")
    names = [material.name for material in mesh.materials]
    sizes = sorted({len(vertices) for vertices, _, _ in faces})
    return f", faces of {sizes} corners with their texture coordinates and the materials {names}"


def main(directory, name, given=None):
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
        expected = vertices_of(os.path.join(folder, frames[index]))
        check(len(mesh.vertices) == len(expected), f"{frames[index]}: {len(mesh.vertices)} vertices, not {len(expected)}")
        for i, vertex in enumerate(mesh.vertices):
            error = max(abs(a - b) for a, b in zip(vertex.co, expected[i]))
            check(error <= 1e-6 * (1 + max(map(abs, expected[i]))), f"{frames[index]}: vertex {i} is off by {error}")
            moved = max(moved, max(abs(a - b) for a, b in zip(vertex.co, body.data.vertices[i].co)))
    check(moved > 0, "nothing moves")
    faces = check_faces(body.data, given) if given else ""
    print(f"Blender: {len(frames)} frames, {len(body.data.vertices)} vertices, {len(body.data.polygons)} faces, "
          f"{len(body.data.edges)} edges: as in the OBJ series, largest displacement {moved:.3g} m{faces}")


main(*sys.argv[sys.argv.index("--") + 1:])
