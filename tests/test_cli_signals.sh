#!/bin/sh
# SIGTERM and Ctrl-C act within a second, also inside a long step: the run ends with its checkpoint and can be resumed.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
export OMP_NUM_THREADS=1

# A stiff block whose single step takes minutes: the steps are large, and the phi-functions need many products.
cat >block.yaml <<'YAML'
name: block
duration: 100
fps: 0
gravity: [0, 0, -9.81]
integrator: {name: exprb42, step: 10, newton_tolerance: 1e-14, energy_gain_bound: 0}
phi: {name: phipm, tolerance: 1e-12, max_products: 1000000000}
bodies:
  - {kind: box, cells: [10, 10, 10], density: 1000, material: neo-hookean, youngs_modulus: 1e9}
pins:
  - {lowest: 0.01}
YAML

# SIGTERM and Ctrl-C act within a second. Seconds of the wall depend on what else the machine does, so what is measured is
# the processor time that the command uses between the signal and its end; a step of block.yaml takes minutes of it.
most=1.5

# signalled SIGNAL FILE SECONDS COMMAND...: sends the signal when FILE is there and SECONDS of work have passed since.
# $code is the exit code (negative: ended by that signal).
signalled() {
    answer=$(python3 "$source_tree/tests/support/signal_command.py" "$@")
    code=${answer% *}
    used=${answer#* }
    case $used in
    early) fail "$*: ended by itself: $(cat err)" ;;
    *[!0-9.]*) fail "$*: $answer" ;;
    *) awk "BEGIN { exit !($used <= $most) }" || fail "$*: used $used s of processor time after the signal" ;;
    esac
}

# interrupted NAME SIGNAL CODE OPTIONS...: a run that gets the signal inside its first step
interrupted() {
    name=$1
    signal=$2
    expected=$3
    shift 3
    signalled "$signal" "$name/run.json" 0.4 "$twang" run block.yaml -o "$name" --quiet --threads 1 "$@"
    [ "$code" = "$expected" ] || fail "$name: exit $code instead of $expected: $(cat err)"
    grep -q '"status": "interrupted"' "$name/run.json" || fail "$name: run.json does not say interrupted"
    grep -q '"status_code": "TW_INTERRUPTED"' "$name/run.json" || fail "$name: run.json does not say why"
    json 1 <"$name/run.json" >/dev/null || fail "$name: run.json is damaged"
    [ -s "$name/checkpoint.bin" ] || fail "$name: no checkpoint"
    [ -z "$(find "$name" -name '*.part')" ] || fail "$name: a half file is left"
    grep -q "go on with: twang resume $name" err || fail "$name: does not say how to go on: $(cat err)"
}

# ---- runs: inside an engine, inside Newton's iteration, inside a factorisation, which nothing can interrupt ----
interrupted phi TERM 143
interrupted rosenbrock TERM 143 --set integrator.name=exprb53 --set phi.name=kiops
interrupted newton INT 130 --set integrator.name=midpoint --set integrator.newton_iterations=1000 \
    --set integrator.linear_solver=pcg --set 'bodies.0.cells=[24, 24, 24]' --set bodies.0.youngs_modulus=1e5
interrupted factor TERM 143 --set integrator.name=bdf1 --set 'bodies.0.cells=[32, 32, 32]' \
    --set bodies.0.material=corotational
grep -q 'the step cannot be interrupted' err || fail "the signal did not come inside a factorisation: $(cat err)"
interrupted factor2 INT 130 --set integrator.name=bdf1 --set 'bodies.0.cells=[32, 32, 32]' \
    --set bodies.0.material=corotational

# Such a run goes on: its first step is the one that was given up.
sed -i 's/^duration: .*/duration: 0.02/' block.yaml
signalled TERM small/run.json 0.1 "$twang" run block.yaml -o small --quiet --threads 1 \
    --set integrator.step=0.01 --set 'bodies.0.cells=[20, 20, 20]' --set integrator.name=bdf1 --set phi.name=auto
expect 0 "$twang" resume small --quiet --threads 1
sed -i 's/^duration: .*/duration: 100/' block.yaml

# Two signals at once count as one: timeout signals the process, and then its group.
"$twang" run block.yaml -o twice --quiet >out 2>err &
pid=$!
while [ ! -e twice/run.json ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
kill -TERM "$pid"
kill -TERM "$pid" 2>/dev/null
wait "$pid"
got=$?
[ "$got" -eq 143 ] || fail "two signals: exit $got instead of 143: $(cat err)"
grep -q '"status": "interrupted"' twice/run.json || fail "two signals: run.json does not say interrupted"

# ---- other verbs, and a scene under construction, end as any program does and leave nothing ----
ended() { # SECONDS COMMAND...
    seconds=$1
    shift
    signalled TERM - "$seconds" "$@"
    [ "$code" = -15 ] || fail "$*: exit $code instead of the signal's: $(cat err)"
}
ended 0.5 "$twang" bench block.yaml
ended 0.3 "$twang" run block.yaml -o building --set 'bodies.0.cells=[60, 60, 60]' --quiet
[ ! -e building ] || fail "a scene under construction left a directory"

# Filling a surface with tetrahedra, as a verb and inside a run.
printf "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n" >octahedron.obj
printf "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n" >>octahedron.obj
cat >filled.yaml <<'YAML'
name: filled
duration: 1
integrator: {name: verlet, step: 0.001}
bodies:
  - {kind: mesh, file: octahedron.obj, vertices: 300000, mass: 1, stiffness: 1}
YAML
ended 0.7 "$twang" mesh octahedron.obj octahedron.ele --vertices 1000000 --threads 1
ended 0.7 "$twang" run filled.yaml -o filled --quiet --threads 1
ended 0.7 "$twang" check filled.yaml
for name in filled octahedron.ele octahedron.node octahedron.ele.part octahedron.node.part; do
    [ ! -e "$name" ] || fail "filling left $name"
done

# ---- export: what is there after a signal is whole ----
# Frames of 40,000 particles: nearly all of the time goes into writing files, so that a signal hits a file.
cat >sheet.yaml <<'YAML'
name: sheet
duration: 0.004
fps: 2000
integrator: {name: verlet, step: 1e-4}
bodies:
  - {kind: cloth, columns: 200, rows: 200, mass: 1, stiffness: 1, shear: 1, bending: 1}
YAML
"$twang" run sheet.yaml --quiet -o many --frames vtu || fail "a run to export"
for format in obj vtu csv; do
    "$twang" export many --format $format -o whole --quiet || fail "a whole export as $format"
    hits=0
    for seconds in 0.05 0.11 0.17 0.23 0.29 0.35; do
        rm -rf half
        answer=$(python3 "$source_tree/tests/support/signal_command.py" TERM - $seconds \
            "$twang" export many --format $format -o half --quiet)
        [ "${answer% *}" = -15 ] && hits=$((hits + 1))
        [ -d half ] || continue
        for file in half/frame_*; do
            [ -e "$file" ] || continue
            cmp -s "$file" "whole/${file#half/}" || fail "a signal after $seconds s left half of $file"
        done
        [ -z "$(find half -name '*.part')" ] || fail "a signal left $(find half -name '*.part')"
    done
    [ "$hits" -gt 0 ] || fail "no signal hit the export as $format"
    rm -rf whole
done

# A signal that comes while a file is written waits until the file is whole. Writing takes its time here, so that the
# signal always comes then.
cat >slow.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
/* What the stream still holds is written late, and so is the second half of a long piece. */
int fclose(FILE *file)
{
    usleep(300000);
    return ((int (*)(FILE *))dlsym(RTLD_NEXT, "fclose"))(file);
}
ssize_t write(int descriptor, const void *bytes, size_t size)
{
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (size < 1000) return next(descriptor, bytes, size);
    usleep(300000);
    return next(descriptor, bytes, size / 2);
}
C
cc -shared -fPIC -D_GNU_SOURCE -o slow.so slow.c -ldl || fail "no library that makes writing slow"
# slow_write BEGUN FILE WHOLE COMMAND...: sends SIGTERM when BEGUN is there; afterwards FILE is the same as WHOLE.
slow_write() {
    begun=$1
    file=$2
    whole=$3
    shift 3
    answer=$(python3 "$source_tree/tests/support/signal_command.py" TERM "$begun" 0 \
        env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$PWD/slow.so" "$@")
    [ "${answer% *}" = -15 ] || fail "$*: $answer after a signal inside a file: $(cat err)"
    [ "$begun" = "$file" ] || [ ! -e "$begun" ] || fail "$*: a signal left $begun"
    cmp "$file" "$whole" || fail "$*: a signal left half of $file"
}
sed 's/: 200,/: 12,/g' sheet.yaml >small.yaml
"$twang" run small.yaml --quiet -o few --frames vtu || fail "a run of small frames"
"$twang" export few --format obj -o whole --quiet || fail "a whole export of small frames"
slow_write slow/frame_000000.obj slow/frame_000000.obj whole/frame_000000.obj \
    "$twang" export few --format obj -o slow --quiet
[ ! -e slow/frame_000001.obj ] || fail "export went on after a signal"
"$twang" mesh octahedron.obj whole.vtk --vertices 60 >/dev/null || fail "a whole mesh"
slow_write slow.vtk.part slow.vtk whole.vtk "$twang" mesh octahedron.obj slow.vtk --vertices 60

finish "signals act within a second, and leave whole files"
