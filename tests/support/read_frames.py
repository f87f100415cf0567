"""Frames read by nobody's library but Python's: every format against the table it came from.

usage: read_frames.py DIR [NAME]      DIR has frames in csv, vtu, ply, obj, and pc2 of the body NAME
"""
import csv
import glob
import os
import struct
import sys
import xml.etree.ElementTree as xml
import zlib


def check(condition, text):
    if not condition:
        sys.exit(f"read_frames: {text}")


def read_csv(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        return [[float(value) for value in row] for row in rows]


def appended(data, offset, code):
    """One array of VTK's compressed raw data."""
    blocks, block, last = struct.unpack_from("<3Q", data, offset)
    sizes = struct.unpack_from(f"<{blocks}Q", data, offset + 24)
    at, out = offset + 24 + 8 * blocks, b""
    for index, size in enumerate(sizes):
        part = zlib.decompress(data[at:at + size])
        check(len(part) == (last if last and index == blocks - 1 else block), "a block has the wrong size")
        out += part
        at += size
    return struct.unpack(f"<{len(out) // struct.calcsize(code)}{code}", out)


def read_vtu(path):
    with open(path, "rb") as file:
        data = file.read()
    mark = b'<AppendedData encoding="raw">\n_'
    begin = data.index(mark) + len(mark)
    check(data.endswith(b"\n</AppendedData>\n</VTKFile>\n"), f"{path}: does not end")
    root = xml.fromstring(data[:begin - len(mark)] + b"</VTKFile>")
    check(root.get("header_type") == "UInt64" and root.get("compressor") == "vtkZLibDataCompressor", "the root")
    codes = {"Float64": "d", "Int32": "i", "UInt8": "B"}
    arrays = {a.get("Name"): appended(data, begin + int(a.get("offset")), codes[a.get("type")])
              for a in root.iter("DataArray") if a.get("format") == "appended"}
    piece = next(root.iter("Piece"))
    time = float(next(a for a in root.iter("DataArray") if a.get("Name") == "TimeValue").text)
    return arrays, int(piece.get("NumberOfPoints")), int(piece.get("NumberOfCells")), time


def check_vtu(path, rows, t):
    arrays, points, cells, time = read_vtu(path)
    check(points == len(rows) and abs(time - t) < 1e-12, f"{path}: {points} points at {time}")
    for i, row in enumerate(rows):
        check(list(arrays["Points"][3 * i:3 * i + 3]) == row[:3], f"{path}: point {i}")
        check(list(arrays["velocity"][3 * i:3 * i + 3]) == row[3:6], f"{path}: velocity {i}")
    check(len(arrays["types"]) == len(arrays["offsets"]) == len(arrays["body"]) == cells, f"{path}: cells")
    corners = {1: 1, 3: 2, 5: 3, 10: 4}
    end = 0
    for kind, offset in zip(arrays["types"], arrays["offsets"]):
        end += corners[kind]
        check(offset == end, f"{path}: offsets")
    check(len(arrays["connectivity"]) == end and 0 <= min(arrays["connectivity"]), f"{path}: connectivity")
    check(max(arrays["connectivity"]) < points, f"{path}: connectivity")
    return {corners[kind]: arrays["types"].count(kind) for kind in set(arrays["types"])}


def read_ply(path):
    with open(path, "rb") as file:
        data = file.read()
    header, body = data.split(b"end_header\n", 1)
    counts = {word[1]: int(word[2]) for word in map(str.split, header.decode().split("\n")) if word[:1] == ["element"]}
    at, vertices, faces, edges = 0, [], [], []
    for _ in range(counts["vertex"]):
        vertices.append(struct.unpack_from("<3fi", body, at))
        at += 16
    for _ in range(counts["face"]):
        corners = body[at]
        faces.append(struct.unpack_from(f"<{corners}i", body, at + 1))
        at += 1 + 4 * corners
    for _ in range(counts["edge"]):
        edges.append(struct.unpack_from("<2i", body, at))
        at += 8
    check(at == len(body), f"{path}: {len(body) - at} bytes too many")
    return vertices, faces, edges


def read_obj(path):
    vertices, faces, edges = [], [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, *rest = line.split()
            if word == "v":
                vertices.append([float(value) for value in rest])
            elif word in "fl":
                corners = tuple(int(corner.split("/")[0]) - 1 for corner in rest)
                (faces if word == "f" else edges).append(corners)
    return vertices, faces, edges


def close(a, b):
    return all(abs(x - y) <= 2e-7 * (1 + abs(y)) for x, y in zip(a, b))


def check_surfaces(folder, index, rows):
    """PLY and OBJ of a frame agree with each other and with the table; returns the vertices."""
    vertices, faces, edges = read_ply(f"{folder}/frame_{index:06}.ply")
    for x, y, z, particle in vertices:
        check(particle >= 0 and close((x, y, z), rows[particle][:3]), f"ply {index}: particle {particle}")
    obj = read_obj(f"{folder}/frame_{index:06}.obj")
    check(obj[1:] == (faces, edges) and len(obj[0]) == len(vertices), f"obj {index}: not the ply's")
    for own, other in zip(obj[0], vertices):
        check(close(own, other[:3]), f"obj {index}: a vertex")
    return vertices, faces, edges


def main(directory, name):
    folder = os.path.join(directory, "frames")
    count = len(glob.glob(f"{folder}/frame_*.csv"))
    index = xml.parse(os.path.join(directory, "frames.pvd")).getroot()
    series = list(index.iter("DataSet"))
    check(count > 1 and len(series) == count, f"{len(series)} in the index, {count} frames")
    with open(f"{folder}/{name}.pc2", "rb") as file:
        cache = file.read()
    magic, version, points, start, rate, samples = struct.unpack_from("<12s2i2fi", cache)
    check((magic, version, start, rate, samples) == (b"POINTCACHE2\0", 1, 0.0, 1.0, count), "the header of the cache")
    check(len(cache) == 32 + 12 * points * samples, "the size of the cache")
    for i in range(count):
        rows = read_csv(f"{folder}/frame_{i:06}.csv")
        check(series[i].get("file") == f"frames/frame_{i:06}.vtu", "a name in the index")
        cells = check_vtu(os.path.join(directory, series[i].get("file")), rows, float(series[i].get("timestep")))
        vertices, faces, edges = check_surfaces(folder, i, rows)
        check(len(vertices) == points, "vertices of the cache")
        sample = struct.unpack_from(f"<{3 * points}f", cache, 32 + 12 * points * i)
        check(all(sample[3 * v:3 * v + 3] == vertices[v][:3] for v in range(points)), f"sample {i} of the cache")
    rest = read_obj(f"{folder}/{name}.obj")
    check(rest[1:] == (faces, edges), "the faces of the rest shape")
    # a closed surface: every edge of a face is there once in each direction
    sides = {(f[k], f[(k + 1) % len(f)]) for f in faces for k in range(len(f))}
    check(4 not in cells or all((b, a) in sides for a, b in sides), "the surface is not closed")
    print(f"{directory}: {count} frames, {len(rows)} particles, {points} vertices, {len(faces)} faces, {len(edges)} edges")


main(*sys.argv[1:])
