#!/usr/bin/env python3
"""Writes the mesh files of this folder with programs that are not Twang: gmsh, tetgen and meshio (Debian packages gmsh,
tetgen, python3-meshio). All are the box [0, 1] x [0, 2] x [0, 3].

usage: tests/meshes/make_mesh_fixtures.py        in the folder tests/meshes
"""
import subprocess
import tempfile

import meshio
import numpy

GEO = """Point(1)={0,0,0,1.4};Point(2)={1,0,0,1.4};Point(3)={1,2,0,1.4};Point(4)={0,2,0,1.4};
Line(1)={1,2};Line(2)={2,3};Line(3)={3,4};Line(4)={4,1};
Line Loop(1)={1,2,3,4};Plane Surface(1)={1};
Extrude {0,0,3} { Surface{1}; }
Mesh.CharacteristicLengthMin = 1.4; Mesh.CharacteristicLengthMax = 1.4;
"""
CORNERS = [(x, y, z) for z in (0, 3) for x, y in ((0, 0), (1, 0), (1, 2), (0, 2))]
FACES = [(1, 2, 3, 4), (5, 6, 7, 8), (1, 2, 6, 5), (2, 3, 7, 6), (3, 4, 8, 7), (4, 1, 5, 8)]


def by_gmsh(folder):
    with open(folder + "/box.geo", "w", encoding="ascii") as file:
        file.write(GEO)
    for name, options in {
            "gmsh_22.msh": "-3 -format msh22 -save_all", "gmsh_22_binary.msh": "-3 -format msh22 -save_all -bin",
            "gmsh_41.msh": "-3 -format msh41 -save_all", "gmsh_41_binary.msh": "-3 -format msh41 -save_all -bin",
            "gmsh_second_order.msh": "-3 -order 2 -format msh41", "gmsh_grid.vtk": "-3 -format vtk -save_all",
            "gmsh_medit.mesh": "-3 -format mesh -save_all", "gmsh_text.stl": "-2 -format stl",
            "gmsh_binary.stl": "-2 -format stl -bin"}.items():
        subprocess.run(["gmsh", "-v", "1", folder + "/box.geo", "-o", name] + options.split(), check=True)


def by_tetgen(folder):
    with open(folder + "/box.poly", "w", encoding="ascii") as file:
        file.write("8 3 0 0\n" + "".join("%d %g %g %g\n" % (i + 1, *p) for i, p in enumerate(CORNERS)))
        file.write("6 0\n" + "".join("1\n4 %d %d %d %d\n" % f for f in FACES) + "0\n0\n")
    for options, name in ("-pqa0.8", "tetgen_one"), ("-pqa0.8z", "tetgen_zero"):
        subprocess.run(["tetgen", options, "box.poly"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        for suffix in "node", "ele":
            subprocess.run(["cp", f"{folder}/box.1.{suffix}", f"{name}.{suffix}"], check=True)


def by_meshio():
    mesh = meshio.read("gmsh_22.msh")
    solid = meshio.Mesh(mesh.points, [("tetra", mesh.cells_dict["tetra"])])
    surface = meshio.Mesh(mesh.points, [("triangle", mesh.cells_dict["triangle"])])
    meshio.write("meshio_grid.vtk", solid, file_format="vtk", binary=True)
    meshio.write("meshio_grid_text.vtk", solid, file_format="vtk", binary=False)
    meshio.write("meshio_grid_42.vtk", solid, file_format="vtk42", binary=True)
    meshio.write("meshio_solid.node", solid, file_format="tetgen")
    meshio.write("meshio_medit.mesh", solid, file_format="medit")
    meshio.write("meshio_41.msh", solid, file_format="gmsh", binary=False)
    meshio.write("meshio_41_binary.msh", solid, file_format="gmsh", binary=True)
    meshio.write("meshio_little.ply", surface, file_format="ply", binary=True)
    meshio.write("meshio_text.ply", surface, file_format="ply", binary=False)
    meshio.write("meshio_surface.obj", surface, file_format="obj")
    meshio.write("meshio_binary.stl", surface, file_format="stl", binary=True)
    return surface


def by_numpy(surface):
    """What none of the three writes: PLY with the other byte order, polygonal data."""
    points, triangles = surface.points, surface.cells_dict["triangle"]
    with open("numpy_big.ply", "wb") as file:
        file.write(b"ply\nformat binary_big_endian 1.0\ncomment by numpy\nelement vertex %d\nproperty float x\n"
                   b"property float y\nproperty float z\nproperty uchar red\nelement face %d\n"
                   b"property list uchar int vertex_indices\nend_header\n" % (len(points), len(triangles)))
        vertex = numpy.zeros(len(points), [("p", ">f4", 3), ("red", "u1")])
        vertex["p"] = points
        face = numpy.zeros(len(triangles), [("n", "u1"), ("v", ">i4", 3)])
        face["n"], face["v"] = 3, triangles
        file.write(vertex.tobytes() + face.tobytes())
    quads = numpy.array(FACES) - 1
    quads[0] = quads[0][::-1]
    for name, binary in ("numpy_poly_text.vtk", False), ("numpy_poly.vtk", True):
        with open(name, "wb") as file:
            file.write(b"# vtk DataFile Version 3.0\na box\n%s\nDATASET POLYDATA\nPOINTS 8 float\n"
                       % (b"BINARY" if binary else b"ASCII"))
            cells = numpy.hstack([numpy.full((6, 1), 4), quads])
            if binary:
                file.write(numpy.array(CORNERS, ">f4").tobytes() + b"\nPOLYGONS 6 30\n" + cells.astype(">i4").tobytes())
            else:
                file.write("".join("%g %g %g\n" % p for p in CORNERS).encode() + b"POLYGONS 6 30\n")
                file.write("".join(" ".join(map(str, c)) + "\n" for c in cells).encode())
            file.write(b"\nCELL_DATA 6\nSCALARS side int 1\nLOOKUP_TABLE default\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        by_gmsh(temporary)
        by_tetgen(temporary)
    by_numpy(by_meshio())
