#!/bin/sh
# kill -9 at random moments: the directory always resumes, and ends in the bytes of the run that was left alone.
set -u
twang=$TWANG_BUILD/twang
kills=${1:-20}
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# checkpoints so often that a kill may well hit one
arguments="rope --integrator verlet --dt 5e-5 --fps 500 --set output.checkpoint_every=0.01 --quiet"

# shellcheck disable=SC2086
"$twang" run $arguments -o whole --threads 1 || exit 1
whole_seconds=$(sed -n 's/.*"wall_seconds": \([0-9.]*\).*/\1/p' whole/run.json)
echo "the run left alone took $whole_seconds s"
seed=4711
killed=0
attempt=0
while [ "$killed" -lt "$kills" ]; do
    attempt=$((attempt + 1))
    [ "$attempt" -gt $((4 * kills)) ] && { echo "the runs end before they can be killed" >&2; exit 1; }
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    threads=$((1 + attempt % 2))
    delay=$(awk "BEGIN { print $whole_seconds * $seed / 2147483648 }")
    if [ -d parts ]; then
        "$twang" resume parts --quiet --threads "$threads" &
    else
        # shellcheck disable=SC2086
        "$twang" run $arguments -o parts --threads "$threads" &
    fi
    job=$!
    sleep "$delay"
    if kill -9 "$job" 2>/dev/null; then killed=$((killed + 1)); fi
    wait "$job" 2>/dev/null
    [ -d parts ] || continue
    grep -q '"status": "done"' parts/run.json 2>/dev/null || continue
    # finished before the kill: compare, and begin again
    diff -r -x run.json -x checkpoint.bin whole parts >&2 || { echo "a resumed run differs" >&2; exit 1; }
    rm -rf parts
done
if [ -d parts ]; then
    "$twang" resume parts --quiet || { echo "the last resume failed" >&2; exit 1; }
    diff -r -x run.json -x checkpoint.bin whole parts >&2 || { echo "the last resumed run differs" >&2; exit 1; }
fi
echo "$killed kills, every directory resumed to the same bytes"
