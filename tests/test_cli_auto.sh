#!/bin/sh
# --integrator auto: the choice meets the error that is asked for, is the same every time, and stays with the run.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

# Relative distance of two final.csv: sum |x - y| / sum |x - start|, the start being that of the first run's frame 0.
distance() {
    awk -F, 'FNR == 1 { file++; next }
        { for (k = 1; k <= 3; k++) at[file, FNR, k] = $k; rows = FNR }
        END {
            for (i = 2; i <= rows; i++) {
                off = 0; moved = 0
                for (k = 1; k <= 3; k++) {
                    off += (at[1, i, k] - at[2, i, k]) ^ 2
                    moved += (at[2, i, k] - at[3, i, k]) ^ 2
                }
                all_off += sqrt(off); all_moved += sqrt(moved)
            }
            printf "%.9f", all_off / all_moved
        }' "$1" "$2" "$3"
}

for stiffness in 1e4 1e6 1e9; do
    set -- rope --set "bodies.0.stiffness=$stiffness" --fps 0
    "$twang" run "$@" --integrator expmid2 --dt 1e-4 -o fine >/dev/null || fail "no reference"
    "$twang" run "$@" --integrator expmid2 --dt 1e-4 --duration 1e-12 -o start >/dev/null || fail "no start"
    for error in 0.05 0.002; do
        "$twang" run "$@" --integrator auto --error "$error" -o chosen >out || fail "auto $stiffness $error: $(cat out)"
        off=$(distance chosen/final.csv fine/final.csv start/final.csv)
        awk -v off="$off" -v error="$error" 'BEGIN { exit !(off < error) }' ||
            fail "$stiffness: $error asked, $off off: $(cat out)"
        rm -r chosen
    done
    rm -r fine start
done

# Where flow divides steps, h and h/2 may lead to the same parts: the error is seen all the same, and a reference of
# bench is one.
cat >flow.yaml <<'END'
name: flow
duration: 40
fps: 1
gravity: [0, 0, -9.81]
integrator: {name: rk4, step: 1e-3}
bodies:
  - {kind: rope, count: 1, length: 1, mass: 1, stiffness: 400, direction: [0, 0, -1], plasticity: {yield_strain: 0.03, hardening: 0.5}}
pins: [{from: 0}]
forces: [{kind: rayleigh, beta: 0.004}]
END
expect 0 "$twang" run flow.yaml --fps 0 -o fine
expect 0 "$twang" run flow.yaml --fps 0 --duration 1e-12 -o start
expect 0 "$twang" run flow.yaml --fps 0 --integrator auto --error 1e-3 -o chosen
off=$(distance chosen/final.csv fine/final.csv start/final.csv)
awk -v off="$off" 'BEGIN { exit !(off < 2e-3) }' || fail "flow: 1e-3 asked, $off off: $(cat out)"
export XDG_CACHE_HOME="$folder/cache"
expect 0 "$twang" bench flow.yaml --integrators rk4 --dt 0.127 --threads 1 --csv
awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "error") column = k }
    NR == 2 { exit !($column > 5e-3 && $column < 3e-2) }' out || fail "bench of flow: $(cat out)"
rm -r fine start chosen

# It says what it chose and why, and the same again with two threads; the directory keeps it.
"$twang" run rope --integrator auto -o one --threads 1 >out
grep -q "^auto: [a-z0-9-]* with steps of .* asked" out || fail "nothing said: $(cat out)"
"$twang" run rope --integrator auto -o two --threads 2 >/dev/null
[ "$(json 'd["integrator_chosen"]' <one/run.json)" = "$(json 'd["integrator_chosen"]' <two/run.json)" ] ||
    fail "two choices for one scene"
[ "$(json 'd["integrator"] in d["integrator_chosen"]' <one/run.json)" = True ] || fail "run.json: $(cat one/run.json)"
cmp one/final.csv two/final.csv || fail "two results for one scene"
grep -q "chosen:" one/scene.yaml || fail "the scene of the run does not keep the choice"
"$twang" run one/scene.yaml -o three >/dev/null
cmp one/final.csv three/final.csv || fail "the scene does not repeat the run"

# Wrong use.
expect 2 "$twang" run rope --error 0.1
grep -q "belongs to --integrator auto" err || fail "--error alone: $(cat err)"
expect 2 "$twang" run rope --integrator auto --error 2
expect 2 "$twang" run rope --integrator auto --dt 0.1
expect 2 "$twang" check rope --integrator auto
finish "auto keeps its promise"
