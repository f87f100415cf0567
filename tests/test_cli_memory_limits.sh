#!/bin/sh
# Under any limit of the address space every command ends by itself: with a result, or with one line that says why not.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

# A sanitizer needs more address space than any limit gives.
# shellcheck disable=SC3045  # ulimit -v is in every sh that we know
(ulimit -v 1000000 && "$twang" --version >/dev/null 2>&1) || exit 0

# bounded LIMIT COMMAND...: with so many KiB, and with a minute, which is a hundred times what it takes
ended=0
refusals=0
results=0
bounded() {
    limit=$1
    shift
    # shellcheck disable=SC3045
    (
        ulimit -v "$limit" && exec timeout -k 5 60 "$@"
    ) >out 2>err
    code=$?
    ended=$((ended + 1))
    case $code in
    0) results=$((results + 1)) ;;
    1 | 2) refusals=$((refusals + 1)) ;;
    127) # The system's loader has no room for the libraries: it says so before a line of ours can run.
        refusals=$((refusals + 1))
        grep -q 'error while loading shared libraries' err || fail "$* with $limit KiB: $(cat err)"
        ;;
    *) fail "$* with $limit KiB: exit $code: $(cat err)" ;;
    esac
    # Where it came to speak for itself, it is one line.
    if [ "$code" -gt 0 ] && [ "$(wc -l <err)" -ne 1 ]; then fail "$limit KiB: $(cat err)"; fi
}

# With one thread: the stacks of others are address space too. The command itself sees to those of OpenBLAS.
export OMP_NUM_THREADS=1
unset OPENBLAS_NUM_THREADS
for limit in 20000 40000 58000 60000 65000 80000 100000 130000 160000 180000 200000 250000 400000 800000; do
    for integrator in rk4 exprb42 expmid2 bdf2; do
        bounded "$limit" "$twang" run rope --integrator "$integrator" --duration 0.01 --quiet --force -o out-dir
    done
    bounded "$limit" "$twang" check rope
done

# Every kind of body gets a verdict before it is made: a body for which no machine has the memory is refused at once, at
# its place in the scene, by `check` and by `run`, which leaves no directory. Under limits of the address space a body
# that fits or not ends with a result or with one line about the memory.
solid='density: 1000, material: corotational, youngs_modulus: 1e5'
body() { # KIND KEYS: a scene with one body
    printf 'name: large\nduration: 0.001\nintegrator: {name: expmid2, step: 0.001}\nbodies:\n  - {kind: %s, %s}\n' \
        "$1" "$2" >"$1.yaml"
}
kinds=0
verdicts() { # KIND KEYS ENORMOUS MODERATE: the keys, and those that make it enormous or moderately large
    body "$1" "$2, $3"
    for verb in check "run -o none --quiet"; do
        # shellcheck disable=SC2086  # the verb and its options
        expect 1 "$twang" $verb "$1.yaml"
        grep -q "^$1.yaml:5:5: bodies.0 has [0-9]* particles, which take at least .* GB of memory" err ||
            fail "$1, $verb: $(cat err)"
        [ ! -e none ] || fail "$1: $verb left a directory"
    done
    body "$1" "$2, $4"
    for limit in 200000 300000 500000; do
        bounded "$limit" "$twang" check "$1.yaml"
        [ "$code" -eq 0 ] || grep -q 'memory\|OpenBLAS' err || fail "$1 with $limit KiB: $(cat err)"
    done
    kinds=$((kinds + 1))
}
verdicts rope 'mass: 1' 'count: 10000000' 'count: 40000'
verdicts cloth 'mass: 1, stiffness: 1, shear: 1, bending: 1' 'columns: 10000, rows: 10000' 'columns: 100, rows: 100'
verdicts coil 'mass: 1, stiffness: 1' 'sections: 10000000' 'sections: 2000'
verdicts box "$solid" 'cells: [1000, 1000, 1000]' 'cells: [16, 16, 16]'
verdicts bar "$solid, order: 2" 'cells: [1000000, 10]' 'cells: [30, 5]'
verdicts tower 'mass: 1, stiffness: 1, stiffness_below: 1' 'detail: 1000' 'detail: 2'
verdicts fibres 'length: 0.3, thickness: 1e-4, youngs_modulus: 1e9, shear_modulus: 1e9, density: 1000, spacing: 0.01' \
    'columns: 1000, rows: 50000' 'columns: 30, rows: 30'

# Bodies of files are counted when the file was read: meshes, and roots of fibres.
printf "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n" >octahedron.obj
printf "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n" >>octahedron.obj
body mesh "file: octahedron.obj, mass: 1, stiffness: 1, vertices: 100000000"
expect 1 "$twang" check mesh.yaml
grep -q '^mesh.yaml:5:.*100000000 vertices take about .* GB of memory' err || fail "mesh: $(cat err)"
body mesh "file: octahedron.obj, mass: 1, stiffness: 1, vertices: 3000"
for limit in 200000 300000 500000; do bounded "$limit" "$twang" check mesh.yaml; done
[ "$kinds" -eq 7 ] || fail "$kinds kinds of bodies instead of 7"

# Threads of OpenBLAS that the user asked for change nothing.
OPENBLAS_NUM_THREADS=4 bounded 200000 "$twang" run rope --duration 0.01 --quiet --force -o out-dir
OPENBLAS_NUM_THREADS=4 bounded 600000 "$twang" run rope --duration 0.01 --quiet --force -o out-dir

# OpenMP ends the program where it cannot start a thread. The command tries first, and does with fewer.
cp "$source_tree/tests/meshes/meshio_surface.obj" box.obj
for limit in 66000 70000 76000 84000 100000 140000; do
    OMP_NUM_THREADS=8 bounded "$limit" "$twang" mesh box.obj box.vtk --vertices 3000 --quiet
    [ "$code" -ne 1 ] || grep -q memory err || fail "threads within $limit KiB: $(cat err)"
done
OMP_NUM_THREADS=8 bounded 100000 "$twang" mesh box.obj box.vtk --vertices 3000 --quiet
[ "$code" -eq 0 ] || fail "a mesh with fewer threads: $(cat err)"

# The sweep has met both ends, and the reason is said.
[ "$refusals" -ge 10 ] || fail "only $refusals of $ended were refused"
[ "$results" -ge 20 ] || fail "only $results of $ended had a result"
bounded 120000 "$twang" run rope --integrator exprb42 --duration 0.01 --quiet --force -o out-dir
grep -q 'OpenBLAS needs a buffer of 128 MiB' err || fail "no reason: $(cat err)"
finish "$ended commands under limits: $results with a result, $refusals refused"
