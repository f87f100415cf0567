#!/bin/sh
# The short examples give what their comments promise.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
examples=$TWANG_BUILD/examples
[ -d "$examples" ] || exit 0 # a build without them

# Two phases separate: the front is the exact one within the error of the grid, about (1/N)^2 / D.
expect 0 "$examples/allen_cahn_in_50_lines"
awk '{ exit !($5 < 0.01) }' out || fail "the front of Allen-Cahn: $(cat out)"
[ "$(wc -l <"$source_tree/examples/allen_cahn_in_50_lines.c")" -le 50 ] || fail "more than 50 lines"

# The list of times: five of six come, each right to 1e-6, and the event is where it must be.
expect 0 "$examples/output_times"
[ "$(grep -c '^t = ' out)" -eq 5 ] || fail "not five output times: $(cat out)"
tr -d ',:' <out | awk '{ d = $6 - $8; if ($1 == "x") d = $8 - $10; if (d * d > 1e-12) bad = 1 } END { exit bad }' ||
    fail "an output or the event is wrong: $(cat out)"
finish "the examples give what they promise"
