#!/usr/bin/python3
"""SciPy's expm_multiply on the operators that `bench_phi --export FOLDER` wrote: exp and phi_1, beside ours.

usage: peer_scipy.py FOLDER CASE

Prints lines of bench_phi's table. Products are counted in a LinearOperator; `solves` holds those with the transpose,
which its norm estimator needs. It has no tolerance: it works to double precision. phi_1 goes through the augmented
matrix [[A, b], [0, 0]]. Error as in bench_phi: relative, worst over both halves of a second-order vector.
"""
import sys
import time
import warnings

import numpy
import scipy.sparse
import scipy.sparse.linalg


def read_matrix(path):
    """A matrix in PETSc's binary format."""
    with open(path, "rb") as file:
        magic, rows, columns, stored = numpy.fromfile(file, ">i4", 4)
        if magic != 1211216:
            raise ValueError(path + " is no PETSc matrix")
        lengths = numpy.fromfile(file, ">i4", rows)
        column = numpy.fromfile(file, ">i4", stored).astype(numpy.int64)
        values = numpy.fromfile(file, ">f8", stored).astype(float)
    starts = numpy.concatenate(([0], numpy.cumsum(lengths)))
    return scipy.sparse.csr_matrix((values, column, starts), shape=(rows, columns))


def read_vector(path):
    """A vector in PETSc's binary format."""
    with open(path, "rb") as file:
        magic, length = numpy.fromfile(file, ">i4", 2)
        if magic != 1211214:
            raise ValueError(path + " is no PETSc vector")
        return numpy.fromfile(file, ">f8", length).astype(float)


class Counted(scipy.sparse.linalg.LinearOperator):
    """A matrix that counts its products, by columns."""

    def __init__(self, matrix):
        super().__init__(matrix.dtype, matrix.shape)
        self.matrix = matrix
        self.transposed = matrix.T.tocsr()
        self.products = self.adjoint_products = 0

    def _matmat(self, x):
        self.products += x.shape[1]
        return self.matrix @ x

    def _matvec(self, x):
        self.products += 1
        return self.matrix @ x

    def _rmatmat(self, x):
        self.adjoint_products += x.shape[1]
        return self.transposed @ x

    def _rmatvec(self, x):
        self.adjoint_products += 1
        return self.transposed @ x


def error(w, exact, given, split):
    """Relative errors of the x-part and the v-part."""
    parts = [slice(0, split), slice(split, None)] if split else [slice(None)]
    norm = numpy.linalg.norm
    return [norm((w - exact)[p]) / max(norm(exact[p]), norm(given[p])) for p in parts]


def run(folder, name, what):
    matrix = read_matrix(f"{folder}/{name}.A")
    given = read_vector(f"{folder}/{name}.b")
    exact = read_vector(f"{folder}/{name}.{what}")
    with open(f"{folder}/{name}.split", encoding="ascii") as file:
        split = int(file.read())
    start = given
    if what == "phi1":
        column = scipy.sparse.csr_matrix(given.reshape(-1, 1))
        matrix = scipy.sparse.bmat([[matrix, column], [None, scipy.sparse.csr_matrix((1, 1))]]).tocsr()
        start = numpy.zeros(given.size + 1)
        start[-1] = 1
    operator = Counted(matrix)
    before = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w = scipy.sparse.linalg.expm_multiply(operator, start, traceA=matrix.diagonal().sum())
    seconds = time.perf_counter() - before
    errors = error(w[: given.size], exact, given, split)
    print(
        f"{name:<12} {what:<5} {'SciPy expm_mult':<17} {'1e-16':>7} {'OK':<20} {operator.products:8d} "
        f"{operator.adjoint_products:7d} {0:7d} {'-':>8} {'-':>9} {max(errors):9.1e} {errors[0]:9.1e} {seconds:9.4f} {'-':>9}",
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for function in ("exp", "phi1"):
        run(sys.argv[1], sys.argv[2], function)
