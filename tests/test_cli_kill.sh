#!/bin/sh
# kill -9 at random moments, with 1 and 2 threads and every format of frames: the directory always resumes, and ends in
# the bytes of the run that was left alone.
# usage: test_cli_kill.sh [KILLS]
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
kills=${1:-50}

# checkpoints so often that a kill may well hit one
common="--integrator verlet --set output.checkpoint_every=0.01 --quiet"
# shellcheck disable=SC2034  # used by name
rope="rope --dt 5e-5 --fps 100 $common"
# shellcheck disable=SC2034
coil="coil --duration 0.1 --fps 100 --dt 1e-4 --set bodies.0.sections=20 $common"
formats='output.frames=[csv, vtu, ply, obj, pc2]'

seed=4711
next_random() { # a share of 1
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
}

# kill_often SCENE KILLS
kill_often() {
    eval "arguments=\$$1"
    whole=$1-whole parts=$1-parts
    # shellcheck disable=SC2086,SC2154
    "$twang" run $arguments --set "$formats" -o "$whole" --threads 1 || exit 1
    seconds=$(sed -n 's/.*"wall_seconds": \([0-9.]*\).*/\1/p' "$whole/run.json")
    killed=0 attempt=0 finished=0 wanted=$2
    # a checked build is slow: there a tenth of the kills has to do
    awk "BEGIN { exit !($seconds > 2) }" && wanted=$((wanted / 10))
    while [ "$killed" -lt "$wanted" ]; do
        attempt=$((attempt + 1))
        [ "$attempt" -gt $((6 * wanted)) ] && { echo "$1: the runs end before they can be killed" >&2; exit 1; }
        next_random
        threads=$((1 + attempt % 2))
        delay=$(awk "BEGIN { print (0.02 + $seconds) * $seed / 2147483648 }")
        if [ -d "$parts" ]; then
            "$twang" resume "$parts" --quiet --threads "$threads" &
        else
            # shellcheck disable=SC2086
            "$twang" run $arguments --set "$formats" -o "$parts" --threads "$threads" &
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
        diff -r -x run.json -x checkpoint.bin -x '*.part' "$whole" "$parts" >&2 || { echo "$1: a resumed run differs" >&2; exit 1; }
        rm -rf "$parts"
    done
    for threads in 1 2; do # what the last kill left, to its end, with either number
        [ -d "$parts" ] || continue
        cp -r "$parts" "$parts-$threads"
        "$twang" resume "$parts-$threads" --quiet --threads "$threads" || { echo "$1: the last resume failed" >&2; exit 1; }
        diff -r -x run.json -x checkpoint.bin -x '*.part' "$whole" "$parts-$threads" >&2 || { echo "$1: the last resumed run differs" >&2; exit 1; }
    done
    echo "$1: $killed kills of a run of $seconds s, $((finished + 1)) runs to their end, all in the same bytes"
}

kill_often rope $((kills / 2))
kill_often coil $((kills - kills / 2))
