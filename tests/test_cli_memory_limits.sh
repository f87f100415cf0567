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
    1 | 2 | 127) refusals=$((refusals + 1)) ;;
    *) fail "$* with $limit KiB: exit $code: $(cat err)" ;;
    esac
    # Where it came to speak for itself, it is one line.
    if [ "$code" -le 2 ] && [ "$code" -gt 0 ] && [ "$(wc -l <err)" -gt 2 ]; then fail "$limit KiB: $(cat err)"; fi
}

# Without threads of OpenMP, whose stacks are address space too.
export OMP_NUM_THREADS=1
for limit in 20000 40000 60000 80000 100000 130000 160000 180000 200000 250000 400000 800000; do
    for integrator in rk4 exprb42 expmid2 bdf2; do
        bounded "$limit" "$twang" run rope --integrator "$integrator" --duration 0.01 --quiet --force -o out-dir
    done
    bounded "$limit" "$twang" check rope
done

# Threads of OpenBLAS that the user asked for change nothing.
OPENBLAS_NUM_THREADS=4 bounded 200000 "$twang" run rope --duration 0.01 --quiet --force -o out-dir
OPENBLAS_NUM_THREADS=4 bounded 600000 "$twang" run rope --duration 0.01 --quiet --force -o out-dir

# The sweep has met both ends, and the reason is said.
[ "$refusals" -ge 10 ] || fail "only $refusals of $ended were refused"
[ "$results" -ge 20 ] || fail "only $results of $ended had a result"
bounded 120000 "$twang" run rope --integrator exprb42 --duration 0.01 --quiet --force -o out-dir
grep -q 'OpenBLAS needs a buffer of 128 MiB' err || fail "no reason: $(cat err)"
finish "$ended commands under limits: $results with a result, $refusals refused"
