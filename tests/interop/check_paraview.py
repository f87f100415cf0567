"""Opens DIR/frames.pvd as ParaView does and compares it with the CSV files beside it.

usage: pvpython check_paraview.py DIR
"""
import csv
import os
import sys

from paraview import servermanager
from paraview.simple import OpenDataFile, UpdatePipeline


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        return [[float(value) for value in row] for row in rows]


def check(condition, text):
    if not condition:
        sys.exit(f"check_paraview: {text}")


def compare(grid, rows, what):
    """Points and velocities of a frame are those of its table, to the last bit."""
    check(grid.GetNumberOfPoints() == len(rows), f"{what}: {grid.GetNumberOfPoints()} points, {len(rows)} rows")
    velocity = grid.GetPointData().GetArray("velocity")
    check(velocity is not None, f"{what}: no velocity")
    for i, row in enumerate(rows):
        check(list(grid.GetPoint(i)) == row[:3], f"{what}: point {i} is {grid.GetPoint(i)}, not {row[:3]}")
        check(list(velocity.GetTuple3(i)) == row[3:6], f"{what}: velocity {i} differs")


def main(directory):
    reader = OpenDataFile(os.path.join(directory, "frames.pvd"))
    times = list(reader.TimestepValues)
    frames = sorted(f for f in os.listdir(os.path.join(directory, "frames")) if f.endswith(".csv"))
    check(len(times) == len(frames) > 1, f"{len(times)} times, {len(frames)} frames")
    for index in (0, len(times) // 2, len(times) - 1):
        UpdatePipeline(time=times[index], proxy=reader)
        grid = servermanager.Fetch(reader)
        compare(grid, table(os.path.join(directory, "frames", frames[index])), frames[index])
    compare(grid, table(os.path.join(directory, "final.csv")), "final.csv")
    types = {}
    for i in range(grid.GetNumberOfCells()):
        types[grid.GetCellType(i)] = types.get(grid.GetCellType(i), 0) + 1
    check(types, "no cells")
    bounds = grid.GetBounds()
    check(bounds[0] < bounds[1], f"bounds {bounds}")
    names = {1: "points", 3: "lines", 5: "triangles", 10: "tetrahedra"}
    cells = ", ".join(f"{count} {names[kind]}" for kind, count in sorted(types.items()))
    print(f"ParaView: {len(times)} frames to t = {times[-1]:g} s, {grid.GetNumberOfPoints()} points, {cells}: as in the CSV")


main(sys.argv[1])
