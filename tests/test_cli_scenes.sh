#!/bin/sh
# check, bench and list on the scenes that come with twang; a scene with a mesh of its own, from another folder.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

# ---- check ----
"$twang" check coil --json >coil.json
[ "$(json 'd["springs"], d["particles"], d["unknowns"], d["tetrahedra"]' <coil.json)" = "40951 8000 23808 26946" ] ||
    fail "check coil: $(cat coil.json)"
[ "$(json '3325 < d["omega_max"] < 3331 and d["omega_max"] < d["omega_bound"]' <coil.json)" = True ] || fail "omega_max"
[ "$(json 'd["suggested_steps"]["verlet"] < 2 / d["omega_max"] and d["memory_bytes"] > 0' <coil.json)" = True ] || fail "steps"
"$twang" check coil | grep -q "begin with" || fail "check coil says no steps"
[ ! -e runs ] || fail "check made a directory"

# It suggests only steps that work: of the flag those of rk4, of a sheet those within which no fold runs over a link.
# A sheet is slow by expmid2, a rope is not. Beyond 3,000 unknowns expmid2 is tried, too.
sheet="--set forces=[] --set motions=[] --set bodies.0.columns=40 --set bodies.0.rows=40"
# shellcheck disable=SC2086
"$twang" check flag $sheet --json >large.json
[ "$(json 'sorted(d["suggested_steps"]), d["expmid2_is_slow"]' <large.json)" = "['expmid2', 'rk4', 'verlet'] True" ] || fail "large sheet: $(cat large.json)"
[ "$("$twang" check rope --json | json 'd["expmid2_is_slow"]')" = False ] || fail "expmid2 is slow on a rope?"
[ "$("$twang" check flag --json | json 'sorted(d["suggested_steps"])')" = "['rk4']" ] || fail "steps of the flag"
cat >sheet.yaml <<'EOF'
name: sheet
duration: 3
gravity: [0, 0, -9.81]
integrator: {name: expmid2, step: 0.01}
bodies:
  - {kind: cloth, columns: 8, rows: 8, width: 0.7, height: 0.7, mass: 0.005, stiffness: 1e4, shear: 1e3, bending: 1e2,
     rotation: [90, 0, 0]}
pins: [{body: 0, from: 0}, {body: 0, from: 7}]
EOF
"$twang" check sheet.yaml --json >sheet.json
for scheme in $(sample 'expmid2 exprb42 pexprb43 midpoint newmark verlet rk4' verlet); do
    step=$(json "d['suggested_steps']['$scheme']" <sheet.json)
    expect 0 "$twang" run sheet.yaml --integrator "$scheme" --dt "$step" --frames none -q -o "sheet-$scheme"
done

# A thin shell that buckles in folds: a trial of four steps saw nothing, and expmid2 lost a sixth of the energy converted.
python3 - <<'EOF' >roof.obj
import math
side = range(13)
for i in side:
    for j in side:
        angle = 0.8 * math.pi * (j / 12 - 0.5)
        print("v", i / 12, 0.4 * math.sin(angle), 0.4 * math.cos(angle))
for i in range(12):
    for j in range(12):
        a = 13 * i + j + 1
        print("f", a, a + 13, a + 14)
        print("f", a, a + 14, a + 1)
EOF

# A dome: rk4 near its largest stable step lost 0.30 of the energy, newmark 0.15 in the second half of the run.
python3 - <<'EOF' >dome.obj
import math
print("v 0 0 0.5")
for i in range(1, 11):
    down = 0.05 * math.pi * i
    for j in range(24):
        round = math.pi * j / 12
        print("v", 0.5 * math.sin(down) * math.cos(round), 0.5 * math.sin(down) * math.sin(round), 0.5 * math.cos(down))
for j in range(24):
    print("f", 1, 2 + j, 2 + (j + 1) % 24)
for i in range(9):
    for j in range(24):
        a, b = 2 + 24 * i + j, 2 + 24 * i + (j + 1) % 24
        print("f", a, a + 24, b + 24)
        print("f", a, b + 24, b)
EOF

for shell in $(sample 'roof dome' ''); do
    "$twang" new "$shell.obj" >out || fail "new $shell.obj"
    "$twang" check "$shell.yaml" --set integrator.dissipation=0 --json >shell.json
    schemes=$(json '" ".join(d["suggested_steps"])' <shell.json)
    case $schemes in *rk4*) ;; *) fail "no step of rk4 for a $shell: $schemes" ;; esac
    for scheme in $schemes; do
        step=$(json "d['suggested_steps']['$scheme']" <shell.json)
        "$twang" run "$shell.yaml" --integrator "$scheme" --dt "$step" --set integrator.dissipation=0 --fps 0 --json -q \
            -o "$shell-$scheme" >turn.json || fail "$scheme on a $shell"
        [ "$(json 'd["energy_verdict"]' <"$shell-$scheme/run.json")" = kept ] ||
            fail "$scheme at $step loses energy on a $shell"
    done
done

# A stiff spring that turns: exponential Rosenbrock schemes lose its energy, so they get small steps. The run itself says
# that it lost the energy.
cat >dumbbell.yaml <<'EOF'
name: dumbbell
duration: 2
integrator: {name: exprb42, step: 0.001}
bodies: [{kind: rope, count: 1, length: 1, mass: 1, stiffness: 1e8, spin: [0, 0, 10]}]
EOF
"$twang" check dumbbell.yaml --json >dumbbell.json
for scheme in expmid2 exprb42 pexprb43 midpoint newmark; do
    step=$(json "d['suggested_steps']['$scheme']" <dumbbell.json)
    "$twang" run dumbbell.yaml --integrator "$scheme" --dt "$step" --fps 0 --json -q -o "turn-$scheme" >turn.json || fail "$scheme"
    [ "$(json 'd["energy_drift_max"] < 0.1' <turn.json)" = True ] || fail "$scheme loses the energy at the step $step"
done
expect 0 "$twang" run dumbbell.yaml --fps 0 -o turn-much
grep -q "^that is much.*expmid2" out || fail "a run that loses its energy does not say so: $(cat out)"
[ "$(json 'd["energy_verdict"]' <turn-much/run.json)" = lost ] || fail "run.json does not say that energy is lost"
expect 1 "$twang" run dumbbell.yaml --fps 0 -q -o turn-limit --energy-limit 0.1
grep -q "exceeds --energy-limit 0.1" err || fail "--energy-limit does not say why: $(cat err)"
expect 0 "$twang" run dumbbell.yaml --integrator expmid2 --fps 0 -q -o turn-kept --energy-limit 0.1
[ "$(json 'd["energy_verdict"]' <turn-kept/run.json)" = kept ] || fail "run.json does not say that energy is kept"
refused "twang: --energy-limit no is not a share above 0" "$twang" run dumbbell.yaml --energy-limit no

# ---- the step that is advised after an explosion is stable; cvode has no step ----
expect 1 "$twang" run dumbbell.yaml --integrator verlet --dt 0.01 --fps 0 -o turn-verlet
step=$(sed -n 's/^try a smaller step (--dt \([^)]*\)).*/\1/p' err)
expect 0 "$twang" run dumbbell.yaml --integrator verlet --dt "$step" --duration 0.1 --fps 0 -q -o turn-stable
if "$twang" list integrators | grep -q "^cvode.*not built in"; then :; else
    expect 0 "$twang" run dumbbell.yaml --integrator cvode --duration 0.01 --fps 0 -o turn-cvode
    grep -q "cvode chooses its own steps" err || fail "cvode does not say that it takes no step: $(cat err)"
    [ "$(json 'd["step"] is None and d["rtol"] == 1e-6' <turn-cvode/run.json)" = True ] || fail "cvode has no rtol"
fi

# ---- every scene is described by one whole sentence, and its name stands once ----
for scene in "$source_tree"/scenes/*.yaml; do
    second=$(sed -n 2p "$scene")
    case $second in "# "[a-z]*) fail "$scene: its first line goes on in the second: $second" ;; esac
    head -n 1 "$scene" | grep -q "^# $(basename "$scene" .yaml): " || fail "$scene: its first line does not begin with its name"
done

# ---- numbers that are rounding are 0 ----
expect 0 "$twang" check dumbbell.yaml --set 'bodies.0.origin=[1e-18, 0, 0]'
grep -q "^  box  *\[0, 0, 0\] to" out || fail "check prints rounding: $(cat out)"
grep -q "^  memory  *[0-9.]* MB in use after the first step" out || fail "check: memory: $(cat out)"

# ---- where bodies touch, steps are those of explicit schemes, tried over the whole run; of a large scene there are none ----
"$twang" check pile --set duration=0.4 --json >pile.json
[ "$(json 'sorted(d["suggested_steps"])' <pile.json)" = "['rk4', 'verlet']" ] || fail "steps of a pile: $(cat pile.json)"
step=$(json 'd["suggested_steps"]["verlet"]' <pile.json)
expect 0 "$twang" run pile --set duration=0.4 --integrator verlet --dt "$step" --fps 0 -q -o pile
[ "$(json 'd["energy_verdict"]' <pile/run.json)" = kept ] || fail "verlet at $step loses the energy of a pile"
[ "$("$twang" check bend-a-spoon --json | json 'd["suggested_steps"]')" = "{}" ] || fail "steps of a spoon, which bends"

# ---- bench ----
"$twang" bench rope --integrators verlet,expmid2 --json >bench.json
[ "$(json '[(t["integrator"], t["status"], t["error"] < 1e-4) for t in d["trials"]]' <bench.json)" = \
    "[('verlet', 'TW_OK', True), ('expmid2', 'TW_OK', True)]" ] || fail "bench: $(cat bench.json)"
"$twang" bench rope --integrators bdf1 --error 1e-3 --json >bench.json
[ "$(json 'd["trials"][0]["error"] < 1e-3 and d["trials"][0]["step"] < 0.0025' <bench.json)" = True ] ||
    fail "bench --error: $(cat bench.json)"
expect 2 "$twang" bench rope --integrators verlet,nope
grep -q "no integrator 'nope'" err || fail "bench with a wrong integrator: $(cat err)"

# ---- list ----
expect 0 "$twang" list scenes
for name in bar bunny bunny-wobble cantilever coil coil-hard dragon drop eiffel flag fput rope stiff-line; do
    grep -q "^$name " out || fail "list scenes has no $name"
done

# ---- meshes ----
expect 2 env TWANG_MESHES="$folder/none" "$twang" check bunny
grep -q 'bunny.yaml:[0-9]*:[0-9]*: bodies.0.file .*twang fetch-meshes' err || fail "a missing mesh: $(cat err)"
mkdir a
cat >a/cube.obj <<END
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
END
cat >a/cube.yaml <<END
name: cube
duration: 0.01
fps: 100
gravity: [0, 0, -9.81]
integrator: {name: verlet, step: 1e-3}
output: {frames: obj}
bodies:
  - {kind: mesh, file: cube.obj, vertices: 60, extent: 2, mass: 1, stiffness: 1e4, diagonal: 1e3}
pins:
  - {lowest: 0.1}
END
(cd / && "$twang" run "$folder/a/cube.yaml" -o "$folder/run" --quiet) || fail "a mesh beside its scene"
grep -q "^v 2.* 2.* 2" "$(find "run/frames" -name '*000000*.obj' | head -n 1)" || fail "the surface of the file is not in the frames"
(cd / && "$twang" resume "$folder/run" >"$folder/resume") || fail "resume of a run with a mesh"
grep -q "^[^ ]*: was finished already" resume || fail "resume: $(cat resume)"
finish "all as expected"
