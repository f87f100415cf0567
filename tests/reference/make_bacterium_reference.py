#!/usr/bin/env python3
"""How fast a rigid bacterium swims: a sphere, a helical flagellum with round ends, and a motor between them.

A second opinion on scenes/bacterium.yaml that shares nothing with Twang but the geometry: the surfaces of head and
flagellum are covered with regularised Stokeslets (Cortez, Fauci and Medovikov 2005; Martindale, Jabbarzadeh and Fu
2016 take such a surface distribution as their benchmark for helical swimmers), both are rigid, and the forces follow
from the velocities: M f = u. Unknowns are the velocity U and the rotation of the head and the speed of the motor;
force and torque on the whole are zero, and the torque on the flagellum along the axis is that of the motor. Seen from
the flagellum nothing changes with time, so that the path is a helix about the direction of its rotation W, and the
speed along it is U . W/|W|.

Also printed: resistive force theory with Lighthill's coefficients, without interaction of head and flagellum.
Lengths in um, mu = 1e-3 Pa s.   usage: make_bacterium_reference.py [--fine]
Prints tests/reference/bacterium.txt: points, speed [um/s], flagellum and head [turns/s].
"""
import sys
import numpy as np

MU = 1e-3           # Pa s
UM = 1e-6           # m
TORQUE = 1e-20      # N m
HEAD = 0.5          # radius of the head [um]
RADIUS = 0.25       # of the helix [um]
PITCH = 1.6         # of the helix [um]
TURNS = 1.25
THICK = 0.1         # half the thickness of the flagellum [um]
START = 0.6         # where the helix begins on the axis, from the centre of the head [um]
AXIS = np.array([-1.0, 0.0, 0.0])
SIDE = np.array([0.0, 1.0, 0.0])


def disc_radius(area):
    """Two thirds of the radius of the disc that a point stands for: the drag of a sphere is then right."""
    return 2 / 3 * np.sqrt(area / np.pi)


def sphere(count, radius):
    i = np.arange(count)
    z = 1 - (2 * i + 1) / count
    angle = np.pi * (3 - np.sqrt(5)) * i
    flat = np.sqrt(1 - z * z)
    points = radius * np.stack([flat * np.cos(angle), flat * np.sin(angle), z], 1)
    return points, np.full(count, disc_radius(4 * np.pi * radius ** 2 / count))


def helix(s):
    """Points, tangents and normals of a left-handed helix, as Twang's fibres curl."""
    across = np.cross(AXIS, SIDE)
    c = PITCH / (2 * np.pi)
    q = np.hypot(RADIUS, c)
    a = s / q
    x = START * AXIS + np.outer(c * a, AXIS) - np.outer(RADIUS * np.cos(a), SIDE) + np.outer(RADIUS * np.sin(a), across)
    tangent = np.outer(np.full_like(a, c / q), AXIS) + np.outer(RADIUS / q * np.sin(a), SIDE) \
        + np.outer(RADIUS / q * np.cos(a), across)
    normal = np.outer(np.cos(a), SIDE) - np.outer(np.sin(a), across)
    return x, tangent, normal


def flagellum(rings, around):
    length = TURNS * 2 * np.pi * np.hypot(RADIUS, PITCH / (2 * np.pi))
    x, tangent, normal = helix((np.arange(rings) + 0.5) * length / rings)
    other = np.cross(tangent, normal)
    angles = 2 * np.pi * (np.arange(around) + 0.5) / around
    tube = np.concatenate([x + THICK * (np.cos(a) * normal + np.sin(a) * other) for a in angles])
    radii = [np.full(len(tube), disc_radius(length / rings * 2 * np.pi * THICK / around))]
    points = [tube]

    # A half sphere at each end, of points as dense as those of the tube.
    per_cap = max(4, int(round(around * rings * THICK / length)))
    for end, sign in ((0.0, -1.0), (length, 1.0)):
        centre, along, _ = helix(np.array([end]))
        whole, eps = sphere(2 * per_cap, THICK)
        outside = (whole @ along[0]) * sign > 0
        points.append(centre + whole[outside])
        radii.append(eps[outside])
    return np.concatenate(points), np.concatenate(radii)


def mobility(x, eps):
    """u = M f for mu = 1; lengths in any unit."""
    r = x[:, None, :] - x[None, :, :]
    e2 = (eps[:, None] ** 2 + eps[None, :] ** 2) / 2
    r2 = (r ** 2).sum(-1)
    power = (r2 + e2) ** 1.5
    M = r[:, :, :, None] * r[:, :, None, :] / power[:, :, None, None]
    M += ((r2 + 2 * e2) / power)[:, :, None, None] * np.eye(3)
    n = len(x)
    return M.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n) / (8 * np.pi)


def turning(x):
    """w -> w x x_i as a matrix."""
    A = np.zeros((len(x), 3, 3))
    A[:, 0, 1], A[:, 0, 2] = x[:, 2], -x[:, 1]
    A[:, 1, 0], A[:, 1, 2] = -x[:, 2], x[:, 0]
    A[:, 2, 0], A[:, 2, 1] = x[:, 1], -x[:, 0]
    return A


def swim(head, head_eps, tail, tail_eps):
    x = np.concatenate([head, tail])
    n = len(x)
    rigid = np.zeros((n, 3, 7))
    rigid[:, :, :3] = np.eye(3)
    rigid[:, :, 3:6] = turning(x)
    rigid[len(head):, :, 6] = turning(tail) @ AXIS
    rigid = rigid.reshape(3 * n, 7)
    forces = np.linalg.solve(mobility(x, np.concatenate([head_eps, tail_eps])), rigid)
    rates = np.linalg.solve(rigid.T @ forces, np.array([0, 0, 0, 0, 0, 0, TORQUE / (MU * UM ** 3)]))
    U, body, spin = rates[:3], rates[3:6], rates[3:6] + rates[6] * AXIS
    return U @ spin / np.linalg.norm(spin), spin @ AXIS / (2 * np.pi), body @ AXIS / (2 * np.pi)


def resistive_force_theory():
    """Lighthill's coefficients (SIAM Review 18, 1976): C_t = 2 pi mu/ln(0.18 p/(b cos t)), C_n = 4 pi mu/(ln + 1/2)."""
    tan = 2 * np.pi * RADIUS / PITCH
    cos2 = 1 / (1 + tan * tan)
    cos, sin2 = np.sqrt(cos2), 1 - cos2
    log = np.log(0.18 * PITCH / (THICK * cos))
    along, across = 2 * np.pi / log, 4 * np.pi / (log + 0.5)
    length = TURNS * PITCH / cos
    drag = length * (across * sin2 + along * cos2) + 6 * np.pi * HEAD
    thrust = length * RADIUS * (across - along) * np.sqrt(sin2) * cos
    torque = length * RADIUS ** 2 * (across * cos2 + along * sin2)
    rates = np.linalg.solve([[drag, -thrust], [-thrust, torque]], [0, TORQUE / (MU * UM ** 3)])
    return -rates[0], rates[1] / (2 * np.pi), -TORQUE / (MU * UM ** 3) / (8 * np.pi * HEAD ** 3) / (2 * np.pi)


if __name__ == "__main__":
    grids = [(200, 60, 6), (400, 100, 8), (600, 140, 10)] + ([(900, 200, 12)] if "--fine" in sys.argv else [])
    print("# A rigid bacterium by surface Stokeslets (make_bacterium_reference.py):")
    print("# points, speed [um/s], flagellum and head [turns/s]; the last row is the finest")
    for count, rings, around in grids:
        head, head_eps = sphere(count, HEAD)
        tail, tail_eps = flagellum(rings, around)
        print(len(head) + len(tail), *("%.6f" % value for value in swim(head, head_eps, tail, tail_eps)))
    print("# resistive force theory, Lighthill: %.4f um/s, %.4f and %.4f turns/s" % resistive_force_theory())
