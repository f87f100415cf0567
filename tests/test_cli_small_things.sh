#!/bin/sh
# What new users stumbled over.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
export OMP_NUM_THREADS=1

# ---- -o makes its parents ----
run="rope --integrator verlet --dt 0.0009765625 --quiet"
# shellcheck disable=SC2086
expect 0 "$twang" run $run --duration 0.01 -o a/b/c
[ -s a/b/c/final.csv ] || fail "-o a/b/c has no final.csv"
echo text >file
# shellcheck disable=SC2086
expect 1 "$twang" run $run --duration 0.01 -o file/b
grep -q '^file/b: cannot be made\|^file: cannot be made' err || fail "-o below a file: $(cat err)"

# ---- resume --duration extends a run: the files are those of one that was longer from the start ----
for format in csv vtu pc2 obj ply; do
    # shellcheck disable=SC2086
    expect 0 "$twang" run $run --duration 0.5 --fps 64 --frames $format -o long-$format
    # shellcheck disable=SC2086
    expect 0 "$twang" run $run --duration 0.25 --fps 64 --frames $format -o short-$format
    expect 0 "$twang" resume short-$format --duration 0.5 --quiet
    diff -rq long-$format short-$format | grep -v 'checkpoint.bin\|run.json' && fail "$format: the extended run is another one"
done
[ "$(json 'd["status"], d["steps"], d["resumed_at"]' <short-csv/run.json)" = "done 512 0.25" ] ||
    fail "run.json of the extended run: $(cat short-csv/run.json)"
expect 0 "$twang" resume short-csv
grep -q 'was finished already' out || fail "an extended run is not finished: $(cat out)"
refused "short-csv: is at t = 0.5 s already, --duration must be later than that" "$twang" resume short-csv --duration 0.1
refused "twang: --duration soon is not a number of seconds above 0" "$twang" resume short-csv --duration soon
echo "of mine" >short-csv/frames/frame_000040.csv
refused "short-csv/frames/frame_*.csv: is there already and was not written by twang, name another directory" \
    "$twang" resume short-csv --duration 1
[ "$(cat short-csv/frames/frame_000040.csv)" = "of mine" ] || fail "extending replaced a file of the user"
rm short-csv/frames/frame_000040.csv
# An adaptive run, and one by another scheme, go on, too.
expect 0 "$twang" run rope --rtol 1e-4 --duration 0.1 --quiet -o adaptive
expect 0 "$twang" resume adaptive --duration 0.2 --quiet
[ "$(json 'd["simulated_seconds"]' <adaptive/run.json)" = 0.2 ] || fail "an adaptive run was not extended"

# ---- check never says ok of what run refuses ----
cat >damped.yaml <<'YAML'
name: damped
duration: 0.01
fps: 0
gravity: [0, 0, -9.81]
integrator: {name: exprb42, step: 0.01}
bodies:
  - {kind: rope, count: 4, length: 0.1, mass: 0.1, stiffness: 1e4}
pins:
  - {from: 0}
forces:
  - {kind: dashpots, damping: 1}
YAML
sed '/^forces/,$d' damped.yaml >undamped.yaml
tried=0
refusals=0
for scene in damped.yaml undamped.yaml fput stiff-line; do
    for integrator in exprb2 exprb42 pexprb43 epirk4s3 expmid2 expmid4 etdrk4 gautschi rk4 verlet bdf1 midpoint v-imex; do
        for phi in auto dense lanczos chebyshev kiops; do
            options="--integrator $integrator --phi $phi --dt 0.01 --duration 0.01 --fps 0"
            # shellcheck disable=SC2086
            "$twang" check $scene $options >checked 2>check-said
            checked=$?
            # shellcheck disable=SC2086
            "$twang" run $scene $options -o first --force --quiet >out 2>err
            ran=$?
            tried=$((tried + 1))
            [ "$ran" -eq 0 ] || refusals=$((refusals + 1))
            [ "$checked" -eq "$ran" ] || fail "$scene $options: check says $checked, run $ran: $(cat check-said err)"
            [ "$ran" -ne 2 ] || cmp -s check-said err || fail "$scene $options: check and run say different things"
            [ "$checked" -eq 0 ] || grep -q ': ok' checked && [ "$checked" -ne 0 ] && fail "$scene $options: check says ok"
        done
    done
done
[ "$refusals" -gt 20 ] || fail "only $refusals of $tried were refused"
expect 1 "$twang" check undamped.yaml --integrator midpoint --dt 10 --duration 10 --set integrator.newton_iterations=1
grep -q ': ok' out && fail "check says ok of a step that fails"

# ---- failures say what to try next, and which body it is about ----
expect 1 "$twang" run rope --integrator verlet --dt 0.02 -o exploded --quiet
grep -q 'bodies.0 (rope) is deformed most: its particles [0-9]* and [0-9]* are' err || fail "no body is named: $(cat err)"
grep -q '^try a smaller step (--dt 0.005)' err || fail "nothing to try next: $(cat err)"
[ "$(json '"bodies.0" in d["reason"]' <exploded/run.json)" = True ] || fail "run.json does not name the body"

# ---- the nearest name is the one with the same beginning ----
refused "twang: there is no scene 'rop', did you mean 'rope'?" "$twang" run rop
refused "twang: unknown verb 'expo', did you mean 'export'?" "$twang" expo
refused "twang: there is no scene 'coi', did you mean 'coil'?" "$twang" check coi

finish "$tried pairs of check and run, $refusals refused; the small things hold"
