#!/bin/sh
# kill -9 at random moments, with 1 and 2 threads and every format of frames: the directory always resumes, and ends in
# the bytes of the run that was left alone.
# usage: test_cli_kill.sh [KILLS [SCHEME...]]   without schemes: a rope and a coil by verlet; `all`: every scheme but
# cvode, which starts anew; a small rope, KILLS in all, shared equally; and before them a scene with contact and one of
# fibres, a twenty-fourth of KILLS each
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
kills=${1:-50}
[ $# -gt 0 ] && shift

# checkpoints so often that a kill may well hit one
often="--set output.checkpoint_every=0.01 --quiet"
formats='output.frames=[csv, vtu, ply, obj, pc2]'

seed=4711
next_random() { # a share of 1
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
}

# same_bytes WHOLE PARTS: all files but those with times in them, and the counts in run.json
same_bytes() {
    diff -r -x run.json -x checkpoint.bin -x '*.part' "$1" "$2" >&2 || return 1
    for file in "$1" "$2"; do grep -vE 'seconds|real_time|peak_memory|resumed_at|threads' "$file/run.json" >"$file.counts"; done
    diff "$1.counts" "$2.counts" >&2
}

# kill_often NAME KILLS ARGUMENTS: of `twang run`
kill_often() {
    name=$1 wanted=$2
    whole=$name-whole parts=$name-parts
    # shellcheck disable=SC2086
    "$twang" run $3 $often --set "$formats" -o "$whole" --threads 1 || exit 1
    seconds=$(sed -n 's/.*"wall_seconds": \([0-9.]*\).*/\1/p' "$whole/run.json")
    killed=0 attempt=0 finished=0
    # a checked build is slow: there a tenth of the kills has to do
    [ "${TWANG_SAMPLE:-}" ] && wanted=$((wanted / 10))
    while [ "$killed" -lt "$wanted" ]; do
        attempt=$((attempt + 1))
        [ "$attempt" -gt $((6 * wanted)) ] && { echo "$name: the runs end before they can be killed" >&2; exit 1; }
        next_random
        threads=$((1 + attempt % 2))
        delay=$(awk "BEGIN { print (0.02 + $seconds) * $seed / 2147483648 }")
        if [ -d "$parts" ]; then
            "$twang" resume "$parts" --quiet --threads "$threads" &
        else
            # shellcheck disable=SC2086
            "$twang" run $3 $often --set "$formats" -o "$parts" --threads "$threads" &
        fi
        job=$!
        sleep "$delay"
        kill -9 "$job" 2>/dev/null
        wait "$job" 2>/dev/null
        [ $? -eq 137 ] && killed=$((killed + 1)) # else it had ended before
        [ -d "$parts" ] || continue
        grep -q '"status": "done"' "$parts/run.json" 2>/dev/null || continue
        # finished before the kill: compare, and begin again
        finished=$((finished + 1))
        same_bytes "$whole" "$parts" || { echo "$name: a resumed run differs" >&2; exit 1; }
        rm -rf "$parts"
    done
    for threads in 1 2; do # what the last kill left, to its end, with either number
        [ -d "$parts" ] || continue
        cp -r "$parts" "$parts-$threads"
        "$twang" resume "$parts-$threads" --quiet --threads "$threads" || { echo "$name: the last resume failed" >&2; exit 1; }
        same_bytes "$whole" "$parts-$threads" || { echo "$name: the last resumed run differs" >&2; exit 1; }
    done
    rm -rf "$whole" "$parts" "$parts-1" "$parts-2"
    echo "$name: $killed kills of a run of $seconds s, $((finished + 1)) runs to their end, all in the same bytes"
}

if [ $# -eq 0 ]; then
    kill_often rope $((kills / 2)) "rope --dt 5e-5 --fps 100 --integrator verlet"
    kill_often coil $((kills - kills / 2)) \
        "coil --duration 0.1 --fps 100 --dt 1e-4 --set bodies.0.sections=20 --integrator verlet"
    exit
fi

# Every scheme: fixed steps, so that all of them fit, and a rope so soft that explicit Euler survives it.
[ "$1" = all ] && {
    # Contact with its impulses, and fibres, whose blocks are factorised in batches.
    cat >contact.yaml <<'END'
name: contact
duration: 0.3
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 0.001}
bodies: [{kind: cloth, columns: 8, rows: 8, stiffness: 100, shear: 10, bending: 0.1, mass: 0.01, rotation: [90, 0, 0], origin: [-0.5, 0.5, 0.02]}]
obstacles: [{kind: sphere, centre: [0, 0, -0.2], radius: 0.2}, {kind: plane, point: [0, 0, -0.3]}]
contact: {distance: 0.01, friction: 0.3}
END
    cat >fibres.yaml <<'END'
name: fibres
duration: 0.3
gravity: [0, 0, -9.81]
integrator: {name: expmid2, step: 0.002}
bodies: [{kind: fibres, columns: 3, rows: 2, spacing: 0.05, length: 0.3, thickness: 0.004, youngs_modulus: 1e7, shear_modulus: 4e6, density: 1200, direction: [1, 0, 0]}]
END
    kill_often contact $((kills / 24)) "contact.yaml --fps 100"
    kill_often fibres $((kills / 24)) "fibres.yaml --fps 100"
    # shellcheck disable=SC2046
    set -- $("$twang" list integrators --json | python3 -c 'import json, sys
for row in json.load(sys.stdin): print(row["name"])' | grep -v cvode)
}
share=$(((kills + $# - 1) / $#))
for scheme in "$@"; do
    kill_often "$scheme" "$share" \
        "rope --integrator $scheme --dt 1e-3 --duration 0.3 --fps 100 --set bodies.0.stiffness=10 --set integrator.reuse_factor=0.3"
done
