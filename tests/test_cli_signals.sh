#!/bin/sh
# SIGTERM and Ctrl-C act at once, also inside a long step: the run ends with its checkpoint and can be resumed.
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

# A loaded machine may take its time; without the poll inside the step it would be minutes.
deadline=15

# waits_for PID: whether it ends before the deadline
waits_for() {
    tries=0
    while kill -0 "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -gt $((10 * deadline)) ] && return 1
        sleep 0.1
    done
}

twice=
# interrupted NAME SIGNAL CODE OPTIONS...: a run that gets the signal inside its first step
interrupted() {
    name=$1
    signal=$2
    code=$3
    shift 3
    "$twang" run block.yaml -o "$name" --quiet "$@" >out 2>err &
    pid=$!
    while [ ! -e "$name/run.json" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    sleep 0.5
    kill -0 "$pid" 2>/dev/null || fail "$name: ended by itself: $(cat err)"
    kill "-$signal" "$pid"
    [ -n "$twice" ] && kill "-$signal" "$pid" 2>/dev/null
    if ! waits_for "$pid"; then
        fail "$name: still running $deadline s after SIG$signal"
        kill -KILL "$pid"
    fi
    wait "$pid"
    got=$?
    [ "$got" -eq "$code" ] || fail "$name: exit $got instead of $code: $(cat err)"
    grep -q '"status": "interrupted"' "$name/run.json" || fail "$name: run.json does not say interrupted"
    [ -s "$name/checkpoint.bin" ] || fail "$name: no checkpoint"
}

interrupted phi TERM 143
twice=1 # as timeout does: the process, and then its group
interrupted twice TERM 143
twice=
interrupted rosenbrock TERM 143 --set integrator.name=exprb53 --set phi.name=kiops

# Other verbs end as any program does.
"$twang" bench block.yaml >out 2>err &
pid=$!
sleep 0.5
kill -TERM "$pid"
waits_for "$pid" || fail "bench goes on"
kill -KILL "$pid" 2>/dev/null

# While the scene is built there is nothing to save yet.
"$twang" run block.yaml -o building --set 'bodies.0.cells=[60, 60, 60]' --quiet >out 2>err &
pid=$!
sleep 0.3
kill -TERM "$pid"
waits_for "$pid" || fail "building goes on"
kill -KILL "$pid" 2>/dev/null
# ---- mesh and export: what is there after a signal is whole ----
"$twang" run rope --integrator verlet --dt 1e-3 --duration 2 --fps 500 --quiet -o many || fail "a run to export"
"$twang" export many --format obj -o whole --quiet || fail "a whole export"
for delay in 0.02 0.05 0.1 0.15 0.2 0.3; do
    rm -rf half
    "$twang" export many --format obj -o half --quiet 2>err &
    pid=$!
    sleep "$delay"
    kill -TERM "$pid" 2>/dev/null
    wait "$pid"
    [ -d half ] || continue
    for file in half/frame_*; do
        [ -e "$file" ] || continue
        cmp -s "$file" "whole/${file#half/}" || fail "a signal left $file half after $delay s"
    done
    [ -z "$(find half -name '*.part')" ] || fail "a signal left $(find half -name '*.part')"
done

finish "signals act inside a step"
