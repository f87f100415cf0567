#!/bin/sh
# twang bench: the reference, the formats, and the counts of quick benchmarks, which do not depend on the machine.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
mkdir cache

# The reference of fput is far below the errors that are measured; the second time it is read.
"$twang" bench fput --duration 2 --integrators exprb42,rk4 --json >first.json
[ "$(json 'd["reference"]["error"] < 1e-9 and d["trials"][0]["error"] > 1e-8' <first.json)" = True ] ||
    fail "reference of fput: $(cat first.json)"
[ "$(find cache -name 'reference-*.bin' | wc -l)" = 1 ] || fail "no reference is kept"
"$twang" bench fput --duration 2 --integrators exprb42 | grep -q ", kept)" || fail "the reference is not read again"
for file in cache/twang/reference-*.bin; do printf 'nonsense' >"$file"; done
"$twang" bench fput --duration 2 --integrators exprb42 --json >again.json
[ "$(json 'd["trials"][0]["error"]' <again.json)" = "$(json 'd["trials"][0]["error"]' <first.json)" ] ||
    fail "a broken reference is believed: $(cat again.json)"

# An error that is asked for is met, by the largest of the steps that are tried.
"$twang" bench rope --integrators midpoint,verlet --error 1e-3 --repeats 3 --rival verlet --csv >rope.csv
[ "$(awk -F, 'NR > 1 { print $7, $9, ($10 <= 1e-3), ($11 <= 1e-5), $23 }' rope.csv)" = "midpoint ok 1 1 3
verlet ok 1 1 3" ] || fail "bench --error: $(cat rope.csv)"

# The energy balance is that of a run: plastic flow, damping, contact and what comes from outside are in it.
cat >wire.yaml <<'YAML'
name: wire
duration: 0.02
fps: 0
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 0.001}
bodies:
  - {kind: rope, count: 8, length: 0.05, mass: 0.05, stiffness: 2e4, plasticity: {yield_strain: 0.0005, hardening: 0.1}}
pins:
  - {body: 0, from: 0}
forces:
  - {kind: load, body: 0, from: 8, force: [50, 0, -50]}
  - {kind: dashpots, damping: 1}
motions:
  - {kind: oscillation, body: 0, from: 4, amplitude: [0, 0.01, 0], frequency: 50}
obstacles: [{kind: plane, point: [0, 0, -0.021]}]
contact: {distance: 0.01, friction: 0.5}
YAML
"$twang" bench wire.yaml --integrators midpoint,rk4,midpoint --json >wire.json
for trial in "0 midpoint" "1 rk4" "2 midpoint"; do
    step=$(json "d['trials'][${trial% *}]['step']" <wire.json)
    expect 0 "$twang" run wire.yaml --integrator "${trial#* }" --dt "$step" -o wire --force --quiet
    drift=$(json "d['energy_drift_max'] if min(d[k + '_work'] for k in ('plastic', 'damping', 'friction')) > 0 else None" <wire/run.json)
    [ "$(json "abs(d['trials'][${trial% *}]['energy_drift'] - $drift) <= 1e-5 * $drift" <wire.json)" = True ] ||
        fail "${trial#* }: bench has another energy error than run, $drift: $(cat wire.json)"
done

# Counts: a scheme that works more than this has become worse. Some are exact.
within() {
    awk -F, -v scheme="$1" -v column="$2" -v most="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["integrator"] == scheme { found = 1; if ($at[column] > most) bad = $at[column] }
        END { if (!found || bad) { print scheme, column, bad + 0, "instead of at most", most; exit 1 } }' counts.csv ||
        fail "$(cat counts.csv)"
}
"$twang" bench rope --csv >counts.csv
within verlet force_evaluations 161
within rk4 force_evaluations 640
within midpoint solves 380
within newmark solves 325
within bdf1 solves 480
within expmid2 factorizations 650
within expmid2 stiffness_products 9600
within exprb42 stiffness_products 2400
within pexprb43 stiffness_products 6400
"$twang" bench fput --duration 10 --csv >counts.csv
within exprb42 stiffness_products 6500
within pexprb43 stiffness_products 7000
within expmid2 stiffness_products 6500
within expmid2 factorizations 1900
# Those of the coil take minutes in checked builds, which look for errors of memory.
if [ -z "${TWANG_SAMPLE:-}" ]; then
    "$twang" bench coil --duration 1 --integrators expmid2,exprb42,midpoint --threads 1 --csv >counts.csv
    within expmid2 factorizations 4
    within expmid2 solves 96
    within expmid2 force_evaluations 8
    within exprb42 stiffness_products 4250
    within midpoint factorizations 4
    "$twang" bench hair --set bodies.0.count=20 --duration 0.05 --integrators expmid2,midpoint,bdf2 --threads 1 --csv >counts.csv
    within expmid2 factorizations 32
    within expmid2 solves 300
    within midpoint factorizations 30
    within bdf2 factorizations 31
fi

# With one thread, seconds are of the processor, and the row says so; an engine is named with its scheme.
"$twang" bench rope --threads 1 --integrators exprb42:lanczos,exprb42:kiops,verlet --csv >engines.csv
[ "$(awk -F, 'NR > 1 { print $7, $9, $26 }' engines.csv)" = "exprb42:lanczos ok processor
exprb42:kiops ok processor
verlet ok processor" ] || fail "engines of contestants: $(cat engines.csv)"
expect 2 "$twang" bench rope --integrators exprb42:nope
grep -q "no phi engine 'nope'" err || fail "unknown engine: $(cat err)"

# A scheme that does not come down to the error in time is scaled by its order, and one that cannot says why.
"$twang" bench rope --threads 1 --integrators bdf1,gautschi,verlet --error 1e-6 --limit 0.02 --csv >late.csv
[ "$(awk -F, '$7 == "bdf1" { print $9, ($29 ~ /by its order from error|came to t = /), ($13 > 0.02) }' late.csv)" = "extrapolated 1 1" ] ||
    fail "a scheme that is too slow: $(cat late.csv)"
"$twang" bench rope --integrators v-imex --dt 0.02 --csv >failed.csv
awk -F, 'NR > 1 { exit !($9 != "ok" && $29 ~ /v-imex/) }' failed.csv || fail "no reason for a failure: $(cat failed.csv)"

# Rows of a suite by their labels; each row has as many fields as the head.
"$twang" bench sweep --quick --threads 1 --row "rope fixed step 1e2" --integrators verlet --csv >row.csv 2>/dev/null
if [ "$(awk -F, '{ print NF }' row.csv | sort -u | wc -l)" != 1 ] || [ "$(wc -l <row.csv)" != 2 ]; then fail "bench --row: $(cat row.csv)"; fi

# A picture, suites, and wrong use.
"$twang" bench rope --integrators verlet --svg bars.svg >/dev/null
grep -q "<svg" bars.svg || fail "no picture"
expect 2 "$twang" bench nothing --quick
grep -q "no suite 'nothing'" err || fail "unknown suite: $(cat err)"
expect 2 "$twang" bench rope --rival nope
expect 2 "$twang" bench rope --repeats 0
expect 2 "$twang" bench sweep --quick --json
refused "twang: table1 is a suite: give --quick (some minutes) or --full (up to an hour)" "$twang" bench table1
expect 0 "$twang" bench rope --integrators verlet,rk4
[ "$(cat err)" = "rope: the reference
rope: verlet, 1 of 2
rope: rk4, 2 of 2" ] || fail "bench does not say what it does: $(cat err)"

# A trial that the limit stops has no error, and says how far it came.
expect 0 "$twang" bench rope --integrators verlet --dt 1e-5 --limit 0.002
grep -q "^verlet .* - .*extrapolated: came to t = [0-9.]* s within 0.002 s" out || fail "a trial that was stopped: $(cat out)"
"$twang" bench --help | grep -q -e "--fps" -e "--frames" && fail "bench offers frames"
finish "what bench says and counts holds"
