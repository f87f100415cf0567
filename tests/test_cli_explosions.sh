#!/bin/sh
# Runs that explode, or whose values are too large to write, fail with exit code 1 and say so in run.json. No file and
# no message has a NaN or an infinity.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

# A rope that is moved.
scene() {
    cat <<YAML
name: rope
duration: 60
fps: 10
gravity: [0, 0, -9.81]
integrator: {name: rk4, step: 0.01}
bodies:
  - {kind: rope, count: 10, length: 0.1, mass: 0.1, stiffness: 1e4, velocity: [0, 0, 0]}
motions:
  - {kind: oscillation, from: 0, amplitude: [0, 0.05, 0], frequency: 2}
YAML
}

# Neither the messages nor any text in the run has NaN or infinities.
check_clean() {
    if grep -rE '(^|[^a-z])-?(nan|inf)([^a-z]|$)' "$1" out; then fail "$1 has a value that is not finite"; fi
}

# $1: name, then options; the run must fail.
must_fail() {
    name=$1
    shift
    code=0
    "$twang" run rope.yaml -o "$name" "$@" >out 2>&1 || code=$?
    [ "$code" -eq 1 ] || fail "$name: exit code $code instead of 1: $(cat out)"
    grep -q '"status": "failed"' "$name/run.json" || fail "$name: run.json does not say failed"
    check_clean "$name"
}

scene >rope.yaml
must_fail moved
must_fail euler --set integrator.name=euler --set integrator.step=0.004
must_fail shaken --set 'motions=[]' --set 'pins=[{from: 0}]' \
    --set 'forces=[{kind: shaking, acceleration: [0, 2, 0], frequency: 3}]'

# The state after the first steps is so far off that the power of the moved support would explain any energy.
for scheme in euler midpoint-explicit; do
    must_fail "leap-$scheme" --duration 0.18 --dt 0.09 --set "integrator.name=$scheme" --set bodies.0.count=1 \
        --set bodies.0.length=1.3 --set bodies.0.stiffness=1.6e6 --set bodies.0.hardening=1 \
        --set 'bodies.0.direction=[-0.39, -0.95, 0.93]' --set 'motions.0.amplitude=[-0.6, 0.5, 0]' \
        --set motions.0.frequency=0.87 --set 'forces=[{kind: rayleigh, beta: 0.36}]'
done
must_fail unguarded --set integrator.energy_gain_bound=0

# Values beyond 32-bit floats, in free flight across the rope, where no link loses its length: doubles hold them.
flies="--dt 0.01 --set bodies.0.direction=[0,0,1] --set bodies.0.velocity=[1e37,0,0] --set motions=[] --set gravity=[0,0,0]"
for format in ply vtu pc2 obj; do
    # shellcheck disable=SC2086
    must_fail $format $flies --duration 11 --set output.frames=$format
    grep -q 'at t = 10.1 s, x of row 0 is too large to write' out || fail "$format: another reason: $(cat out)"
    [ ! -e $format/final.csv ] || fail "$format: has a final.csv"
done
# shellcheck disable=SC2086
expect 0 "$twang" run rope.yaml -o csv --quiet $flies --duration 11 --set output.frames=csv

# Energies beyond doubles at the start: the scene is refused with its place, and there is no directory.
expect 2 "$twang" run rope.yaml -o none --set 'bodies.0.velocity=[1e200, 0, 0]' --set 'motions=[]'
grep -q '^rope.yaml:7:3: bodies: ' err || fail "no place: $(cat err)"
[ ! -e none ] || fail "a run that could not start left a directory"

expect 2 "$twang" check rope.yaml --set 'bodies.0.origin=[1.7e308, 0, 0]' --set bodies.0.length=1.7e307
grep -q '^rope.yaml:7:5: ' err || fail "no place: $(cat err)"

# A hundred forces are not too many.
forces=$(i=0; while [ $i -lt 100 ]; do printf '{kind: load, from: 10, force: [0, 0, 0.001]}, '; i=$((i + 1)); done)
expect 0 "$twang" check rope.yaml --set "forces=[$forces]"

# A disk that gets full: run.json says so. Files have at most 64 KiB here.
(
    ulimit -f 128
    trap '' XFSZ
    "$twang" run rope.yaml -o full --set integrator.step=0.001 --quiet
) >out 2>&1 && fail "a full disk is no failure"
grep -q '"status": "failed"' full/run.json || fail "full: $(cat full/run.json)"
grep -q '"reason": ".*telemetry.csv: cannot be written: File too large' full/run.json || fail "full: no reason"

# The same on a file system of 256 KiB, where the system lets a user mount one.
mkdir small
cat >mounted.sh <<'END'
mount -t tmpfs -o size=256k none small || exit 77
"$1" run rope.yaml -o small/full --set integrator.step=0.001 --quiet
cp small/full/run.json small.json
umount small
mount -t tmpfs -o size=16k none small
"$1" run rope.yaml -o small/full --threads 1 --quiet 2>early
ls small >left
END
unshare --user --map-root-user --mount sh mounted.sh "$twang" >out 2>&1
if [ -e small.json ]; then
    grep -q '"status": "failed"' small.json || fail "a full file system: $(cat out small.json)"
    grep -q '"reason": ".*No space left on device' small.json || fail "a full file system: no reason"
    # A run that has no room to begin, not even for run.json, leaves nothing, and nobody is told to resume it.
    [ -s left ] && fail "a run that could not begin left $(cat left)"
    grep -q '^small/full.*: No space left on device$' early || fail "no room to begin: $(cat early)"
fi

# A moved particle beyond doubles.
must_fail keyed --set 'motions=[{kind: velocity, from: 0, velocity: [0, 1e308, 0]}]' \
    --set integrator.energy_gain_bound=0

# The same scenes with sound steps succeed.
"$twang" run rope.yaml -o sound --set integrator.step=0.001 --set duration=0.5 --quiet >out 2>&1 || fail "$(cat out)"
check_clean sound

# A belt draws a block along by friction: energy that comes from outside by impulses.
cat >belt.yaml <<'YAML'
name: belt
duration: 0.4
fps: 0
gravity: [0, 0, -9.81]
integrator: {name: rk4, step: 5e-4}
bodies:
  - {kind: box, cells: [1, 1, 1], size: [0.2, 0.2, 0.2], density: 1000, stiffness: 1e5, origin: [0, 0, 0.01]}
obstacles:
  - {kind: plane, normal: [0, 0, 1], motion: {kind: velocity, velocity: [1, 0, 0]}}
contact: {distance: 0.01, friction: 0.5}
YAML
for integrator in rk4 verlet expmid2 bdf2; do
    expect 0 "$twang" run belt.yaml --integrator "$integrator" -o belt --force --quiet
done

# A contact that a step passes over threw a body back with three times its energy, with damping or without. The step is
# divided or refused. With a shorter step the same bodies bounce.
drop() { # MODULUS STEP FORCES: a cube of rubber falls on the ground
    cat >drop.yaml <<END
name: drop
duration: 0.5
gravity: [0, 0, -9.81]
integrator: {name: newmark, step: $2}
bodies:
  - {kind: box, cells: [3, 3, 3], size: [0.2, 0.2, 0.2], density: 1000, material: corotational,
     youngs_modulus: $1, origin: [0, 0, 0.5]}
forces: $3
obstacles:
  - {kind: plane}
contact: {distance: 0.005}
END
    rm -rf drop
    "$twang" run drop.yaml -o drop --quiet >out 2>err
    code=$?
}
for forces in '[]' '[{kind: rayleigh, alpha: 0, beta: 1e-4}]'; do
    for modulus in 1e6 1e7; do
        drop $modulus 0.02 "$forces"
        most=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "total") c = i }
            NR > 1 && $c > most { most = $c } END { print most + 0 }' drop/telemetry.csv)
        awk "BEGIN { exit !($most < 70) }" || fail "drop, E $modulus, $forces: 47 J became $most J, exit $code"
        drop $modulus 0.005 "$forces"
        [ "$code" -eq 0 ] || fail "drop in short steps, E $modulus, $forces: $(cat err)"
    done
done

# Damping that is not of Rayleigh's plain form takes energy too: the balance is watched in every step. The rope has 15 J
# to turn over, and got 164 J before anything was noticed while only faster steps than ever were looked at.
cat >rope.yaml <<END
name: rope
duration: 2
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 0.02}
bodies:
  - {kind: rope, count: 6, stiffness: 1e4, direction: [1, 0, 1]}
pins:
  - {body: 0, from: 0}
forces:
  - {kind: rayleigh, alpha: 0, beta: 1e-3}
END
expect 1 "$twang" run rope.yaml -o rope --quiet
gained=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "total") c = i } NR == 2 { start = $c }
    NR > 1 && $c - start > most { most = $c - start } END { print (most < 50) ? "little" : most }' rope/telemetry.csv)
[ "$gained" = little ] || fail "a damped rope gained $gained J before it was stopped"

# Tables with columns for plastic strain and wear are wider than six: the diagnosis wrote past its memory.
for kind in plastic worn; do
    cat >rope.yaml <<END
name: rope
duration: 0.5
gravity: [0, 0, -9.81]
integrator: {name: exprb42, step: 0.02}
bodies:
  - {kind: rope, count: 10, length: 0.1, mass: 0.1, stiffness: 1e8, origin: [0, 0, 5], spin: [0, 0, 20]$(
        [ $kind = worn ] || echo ', plasticity: {yield_strain: 0.01}')}
obstacles:
  - {kind: plane}
contact: {distance: 0.005, friction: 0.5$([ $kind = plastic ] || echo ', friction_length: 0.01')}
END
    must_fail $kind
done

finish "what explodes fails, what is sound does not"
