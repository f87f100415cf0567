"""The bunny's motion by its modes, from the mesh alone: a reference that shares no code with Twang.

Springs of stiffness k along d between a and b have the matrix k g g^T, g = d at a and -d at b. A spring from a vertex to
the centre of the opposite face has -d/3 at each of the face's corners. From rest, x(t) = sum_i (1 - cos w_i t)/w_i^2 f_i."""
import numpy as np


class LinearModes:
    def __init__(self, points, tetrahedra, edge, diagonal, gravity, lowest):
        height = points[:, 2]
        self.free = height > height.min() + lowest * (height.max() - height.min())
        number = np.cumsum(self.free) - 1
        matrix = np.zeros((self.free.sum() * 3,) * 2)

        def add(stiffness, vertices, weights):
            d = weights @ points[vertices]
            d /= np.linalg.norm(d)
            held = self.free[vertices]
            at = (3 * number[vertices][held][:, None] + np.arange(3)).ravel()
            g = np.outer(weights[held], d).ravel()
            matrix[np.ix_(at, at)] += stiffness * np.outer(g, g)

        corners = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
        for pair in {tuple(sorted((t[i], t[j]))) for t in tetrahedra for i, j in corners}:
            add(edge, np.array(pair), np.array([1.0, -1.0]))
        for t in tetrahedra:
            for i in range(4):
                add(diagonal, np.array([t[i], *np.delete(t, i)]), np.array([1.0, -1 / 3, -1 / 3, -1 / 3]))
        square, self.shape = np.linalg.eigh(matrix)  # of masses 1
        self.omega = np.sqrt(square)
        self.load = self.shape.T @ np.tile(gravity, self.free.sum())

    def displacement(self, t):
        """Of the free particles, three numbers each."""
        return self.shape @ (self.load * (1 - np.cos(self.omega * t)) / self.omega**2)

    def count(self, power, share):
        """How many modes hold that share of sum load^2 / omega^power: 4 is the displacement's square, 2 the velocity's."""
        parts = np.sort(self.load**2 / self.omega**power)[::-1]
        return int(np.searchsorted(np.cumsum(parts), share * parts.sum())) + 1
