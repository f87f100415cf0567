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
expect 2 "$twang" run $run --duration 0.01 -o file/b
[ "$(cat err)" = "file is a file, and not a folder" ] || fail "-o below a file: $(cat err)"

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
# Of a step that is not exact in binary the times may round otherwise, and no more than that.
decimal="rope --integrator expmid2 --dt 0.005 --fps 0 --quiet"
# shellcheck disable=SC2086
expect 0 "$twang" run $decimal --duration 0.4 -o long-decimal
# shellcheck disable=SC2086
expect 0 "$twang" run $decimal --duration 0.2 -o short-decimal
expect 0 "$twang" resume short-decimal --duration 0.4 --quiet
cmp -s long-decimal/final.csv short-decimal/final.csv || fail "an extended run ends in another state"
paste -d, long-decimal/telemetry.csv short-decimal/telemetry.csv | awk -F, -v rows=81 '
    NR > 1 { half = NF / 2; d = $1 - $(half + 1); if (d * d > 1e-30 || $2 != $(half + 2)) bad = 1 }
    END { exit bad || NR != rows }' || fail "an extended run has other steps"
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
grep -q '^try a smaller step (--dt 0.0028)' err || fail "nothing to try next: $(cat err)"
[ "$(json '"bodies.0" in d["reason"]' <exploded/run.json)" = True ] || fail "run.json does not name the body"

# ---- the nearest name is the one with the same beginning ----
refused "twang: there is no scene 'rop', did you mean 'rope'?" "$twang" run rop
refused "twang: unknown verb 'expo', did you mean 'export'?" "$twang" expo
refused "twang: there is no scene 'coi', did you mean 'coil'?" "$twang" check coi

# ---- a mesh becomes a scene; y up comes back as y up; names keep their accents ----
printf "v 1 0 0\nv -1 0 0\nv 0 3 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n" >Köpfchen.obj
printf "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n" >>Köpfchen.obj
refused "twang: Köpfchen.obj is a mesh, and not a scene: twang new Köpfchen.obj makes a scene of it" "$twang" run Köpfchen.obj
expect 0 "$twang" new Köpfchen.obj --up y
refused "twang: Köpfchen.yaml: exists already, name another file by -o" "$twang" new Köpfchen.obj
refused "twang: --up w is neither y nor z" "$twang" new Köpfchen.obj --up w
expect 2 "$twang" new nothing.obj
expect 0 "$twang" check Köpfchen.yaml
expect 0 "$twang" run Köpfchen.yaml --duration 0.04 --quiet --set bodies.Köpfchen.vertices=50
frames=runs/Köpfchen-1/frames
[ -s $frames/Köpfchen.pc2 ] || fail "no point cache of that name: $(ls $frames)"
# The tip, vertex 3, is the highest in y, as in the file: its y is three times the x of vertex 1.
tip() { awk '/^v / { n++; x[n] = $2; y[n] = $3; z[n] = $4 } END { printf "%.3f %.3f\n", y[3] / x[1], z[5] / x[1] }' "$1" | sed 's/-0.000/0.000/g'; }
[ "$(tip $frames/Köpfchen.obj)" = "3.000 1.000" ] || fail "y up did not come back: $(tip $frames/Köpfchen.obj)"
expect 0 "$twang" export runs/Köpfchen-1 --format obj --quiet
[ "$(tip $frames/frame_000000.obj)" = "3.000 1.000" ] || fail "export: y up did not come back"
expect 0 "$twang" run Köpfchen.yaml --duration 0.04 --quiet --set bodies.0.vertices=50 --set output.up=z -o z-up
[ "$(tip z-up/frames/Köpfchen.obj)" = "0.000 0.000" ] || fail "z up: $(tip z-up/frames/Köpfchen.obj)"
# In the scene the tip is the highest in z: the lowest 5 % that are held are at its other end.
awk -F, 'NR > 1 && $3 > high { high = $3 } END { exit !(high > 1) }' z-up/final.csv || fail "y up was not turned to z up"

# ---- an open surface becomes a sheet ----
grid() { # grid SIDE: a level square of 6 x 6 vertices
    awk -v side="$1" 'BEGIN { for (i = 0; i < 36; i++) printf "v %g %g 0\n", side * (i % 6), side * int(i / 6)
        for (i = 1; i < 30; i++) if (i % 6) printf "f %d %d %d %d\n", i, i + 1, i + 7, i + 6 }'
}
grid 0.2 >flat.obj
expect 0 "$twang" new flat.obj
grep -q "kind: sheet" out || fail "new does not say that it makes a sheet: $(cat out)"
grep -q "kind: sheet" flat.yaml || fail "a level surface is no sheet: $(cat flat.yaml)"
expect 0 "$twang" run flat.yaml --duration 0.02 --quiet -o flat
moved() { awk -F, 'NR > 1 && $3 < -1e-6 { n++ } END { print n + 0 }' "$1"; }
[ "$(moved flat/final.csv)" -eq 30 ] || fail "the sheet is not held at one end: $(moved flat/final.csv) of 36 particles fall"
expect 0 "$twang" new flat.obj --up y -o flat-y.yaml
expect 0 "$twang" check flat-y.yaml

# ---- a mesh in millimetres ----
grid 200 >millimetres.obj
expect 0 "$twang" mesh millimetres.obj metres.obj --scale 1e-3
grep -q "^size  *1 x 1 x 0 m" out || fail "mesh does not say the size: $(cat out)"
expect 0 "$twang" mesh flat.obj same.obj
cmp -s metres.obj same.obj || fail "mesh --scale 1e-3 does not make metres of millimetres"
refused "twang: --scale 0 is not a factor above 0, such as 1e-3 for millimetres" \
    "$twang" mesh millimetres.obj metres.obj --scale 0

# ---- an obstacle with y up; its points are no particles; an empty directory is a place to write to ----
printf "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 4 3 2\n" >floor.obj
cat >floor.yaml <<'YAML'
name: floor
duration: 0.01
integrator: {name: verlet, step: 0.001}
bodies:
  - {kind: rope, count: 4, length: 0.1, mass: 0.1, stiffness: 1e4, origin: [0, 0, 1]}
pins:
  - {body: 0, from: 0}
obstacles:
  - {kind: mesh, file: floor.obj, up: y}
contact: {distance: 0.01}
YAML
expect 0 "$twang" check floor.yaml
grep -q "5 particles (1 held)" out || fail "the corners of an obstacle are counted: $(cat out)"
[ "$(awk '/box/ { print $4 }' out)" = '0]' ] || fail "an obstacle with y up does not lie level: $(cat out)"
mkdir empty
expect 0 "$twang" run floor.yaml --quiet -o empty
[ -s empty/final.csv ] || fail "a run does not go into an empty directory"
# Rows of final.csv: the particles come first, then the points of the obstacles.
[ "$(awk -F, 'NR > 1 && NR < 7 && $3 == 0 { n++ } END { print NR, n + 0 }' empty/final.csv)" = "10 0" ] ||
    fail "the first five rows of final.csv are not the rope: $(cat empty/final.csv)"
[ "$(awk -F, 'NR > 6 && $3 == 0 { n++ } END { print n }' empty/final.csv)" -eq 4 ] ||
    fail "the last four rows of final.csv are not the floor: $(cat empty/final.csv)"
refused "empty: exists already, name another directory or give --force" "$twang" run floor.yaml --quiet -o empty

# ---- bodies, pins, forces and obstacles by name ----
cat >names.yaml <<'YAML'
name: Käse
duration: 0.01
integrator: {name: verlet, step: 0.001}
gravity: [0, 0, -9.81]
bodies:
  - {kind: rope, name: upper, count: 4, length: 0.1, mass: 0.1, stiffness: 1e4}
  - {kind: rope, name: lower, count: 4, length: 0.1, mass: 0.1, stiffness: 1e4, origin: [0, 0, -1]}
pins:
  - {name: left, body: lower, from: 0}
forces:
  - {name: pull, kind: load, body: lower, from: 4, force: [0, 0, 1]}
motions:
  - {name: shake, kind: velocity, body: upper, from: 0, velocity: [0, 0, 1]}
obstacles:
  - {name: floor, kind: plane, point: [0, 0, -5], normal: [0, 0, 1]}
contact: {distance: 0.01}
YAML
expect 0 "$twang" run names.yaml --quiet -o named
sed 's/body: lower/body: 1/; s/body: upper/body: 0/' names.yaml >numbers.yaml
expect 0 "$twang" run numbers.yaml --quiet -o numbered
cmp -s named/final.csv numbered/final.csv || fail "a body by name is another one than by index"
expect 0 "$twang" run names.yaml --quiet -o changed --set bodies.lower.mass=0.3 --set pins.left.from=1 \
    --set forces.pull.from=3 --set motions.shake.from=1 --set obstacles.floor.point='[0, 0, -6]'
expect 0 "$twang" run names.yaml --quiet -o indexed --set bodies.1.mass=0.3 --set pins.0.from=1 \
    --set forces.0.from=3 --set motions.0.from=1 --set obstacles.0.point='[0, 0, -6]'
cmp -s changed/final.csv indexed/final.csv || fail "--set by name is another one than by index"
cmp -s changed/final.csv named/final.csv && fail "--set by name changed nothing"
refused "--set pins.left.body=lowr: pins.0.body is 'lowr', must be the name of a body, did you mean 'lower'?" \
    "$twang" check names.yaml --set pins.left.body=lowr
refused "--set pins.left.body=2: pins.0.body is 2, must be at most 1: the last body" \
    "$twang" check names.yaml --set pins.left.body=2

# ---- damping of a start in modes that no step resolves ----
# The link is pulled at 0.3 m/s along itself, 0.0045 J, and its damping ends that within 0.1 ms: it takes no more than
# that, though 90 W at the start and 0 W after half a step would be 0.2 J on a straight line.
cat >link.yaml <<'EOF'
name: link
duration: 0.2
integrator: {name: expmid2, step: 0.01}
bodies: [{kind: rope, count: 1, length: 1, mass: 0.1, stiffness: 1e6, velocity: [0.3, 0, 0]}]
pins: [{body: 0, from: 0}]
forces: [{kind: rayleigh, beta: 1e-3}]
EOF
for beta in 1e-5 1e-3 0.1; do
    expect 0 "$twang" run link.yaml --set "forces.0.beta=$beta" --fps 0 -q -o "link-$beta"
    [ "$(json '0 <= d["damping_work"] <= 0.0045' <"link-$beta/run.json")" = True ] ||
        fail "damping took $(json 'd["damping_work"]' <"link-$beta/run.json") J of 0.0045 at beta = $beta"
done

# ---- bodies that meet at the start are named, both, whatever finds it ----
cat >meet.yaml <<'EOF'
name: meet
duration: 1
integrator: {step: 0.01}
bodies:
  - {kind: box, name: left, cells: [1, 1, 1], mass: 1, stiffness: 1e3}
  - {kind: box, name: right, cells: [1, 1, 1], mass: 1, stiffness: 1e3}
contact: {distance: 0.01}
motions:
  - {kind: velocity, velocity: [1, 0, 0], body: left, from: 0}
EOF
meeting="left and right come within 0 m of each other at (0, 0, 0)"
expect 2 "$twang" check meet.yaml
grep -q "^meet.yaml:5:3: bodies: the forces are not defined at the start: $meeting" err || fail "at the start: $(cat err)"
sed -i '/^motions/,$d' meet.yaml
expect 1 "$twang" check meet.yaml
grep -q "cannot be trusted: $meeting" err || fail "in a step: $(cat err)"
sed -i 's/step: 0.01/rtol: 1e-3/' meet.yaml
expect 1 "$twang" check meet.yaml
grep -q "^first step: $meeting" err || fail "in the first step: $(cat err)"

# ---- a vibration that the step does not resolve, and that has more energy than the rest of the motion ----
cat >block.yaml <<'END'
name: block
duration: 0.1
fps: 0
gravity: [0, 0, -9.81]
integrator: {name: expmid2, step: 0.02}
bodies: [{kind: box, density: 1000, material: neo-hookean, youngs_modulus: 4e7, cells: [2, 2, 2]}]
pins: [{lowest: 0.05}]
END
expect 0 "$twang" run block.yaml -o block
grep -q '^warning: that is more than the kinetic energy of all other motion' out || fail "no warning: $(cat out)"
[ "$(json 'd["energy_unresolved"] > d["kinetic_resolved"]' <block/run.json)" = True ] || fail "run.json: $(cat block/run.json)"

# ---- an impact has its restitution by every scheme, and run.json has the work of a belt ----
cat >impact.yaml <<'END'
name: impact
duration: 0.15
fps: 0
integrator: {name: midpoint, step: 1e-4}
bodies: [{kind: rope, count: 1, length: 0.1, mass: 0.4, stiffness: 100, origin: [0, 0, 0.04], velocity: [0, 0, -1]}]
obstacles: [{kind: plane}]
contact: {distance: 0.01, friction: 0, restitution: 0.5, stiffness: 5000}
END
for scheme in bdf1 bdf2 semi-implicit midpoint verlet; do
    expect 0 "$twang" run impact.yaml --integrator $scheme -o impact --force --quiet
    awk -F, 'NR == 2 { exit !($6 > 0.47 && $6 < 0.51) }' impact/final.csv || fail "$scheme: $(sed -n 2p impact/final.csv)"
done
cat >belt.yaml <<'END'
name: belt
duration: 0.1
fps: 0
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 2e-3}
bodies: [{kind: box, cells: [1, 1, 1], mass: 0.1, stiffness: 1e4, origin: [0, 0, 0.008]}]
obstacles: [{kind: plane, motion: {kind: velocity, velocity: [1, 0, 0]}}]
contact: {distance: 0.01, friction: 0.5}
END
expect 0 "$twang" run belt.yaml -o belt --quiet
column=$(head -1 belt/telemetry.csv | tr , '\n' | grep -n '^outside_work$' | cut -d: -f1)
work=$(tail -1 belt/telemetry.csv | cut -d, -f"$column")
[ "$(json "abs(d['outside_work'] - $work) < 1e-12 and d['outside_work'] > 0.01" <belt/run.json)" = True ] ||
    fail "the work of a belt: $work in telemetry.csv, $(grep outside_work belt/run.json)"

# ---- a body at rest keeps its energy, whatever rounding does to it ----
cat >rest.yaml <<'END'
name: rest
duration: 1
fps: 0
bodies: [{kind: rope, count: 5, length: 0.1, mass: 1, stiffness: 1000, direction: [0.3, 0.5, 0.1]}]
integrator: {name: bdf2, step: 0.01}
END
for step in 0.01 0.001; do
    for stiffness in 1e3 1e9; do
        expect 0 "$twang" run rest.yaml --dt $step --set bodies.0.stiffness=$stiffness -o rest --force --quiet
        grep -q '"energy_verdict": "kept"' rest/run.json || fail "at rest: $(grep energy rest/run.json)"
    done
done
# The same rope let go in bdf2's large steps really loses energy.
expect 0 "$twang" run rest.yaml --dt 0.1 --set bodies.0.spin='[0, 0, 3]' -o rest --force --quiet
grep -q '"energy_verdict": "lost"' rest/run.json || fail "a spinning rope: $(grep energy rest/run.json)"

# ---- each separate piece of a mesh is held ----
# Three cubes: at the ground, in the air, and aside.
cube() {
    awk -v x="$1" -v z="$2" -v n="$3" 'BEGIN {
        for (i = 0; i < 8; i++) print "v", x + i % 2, int(i / 2) % 2, z + int(i / 4)
        split("1 3 4 2 5 6 8 7 1 2 6 5 3 7 8 4 1 5 7 3 2 4 8 6", c, " ")
        for (f = 0; f < 6; f++) print "f", n + c[4*f+1], n + c[4*f+2], n + c[4*f+3], n + c[4*f+4] }'
}
{ cube 0 0 0; cube 0.2 2.5 8; cube 3 0.7 16; } >cubes.obj
for up in z y; do
    expect 0 "$twang" new cubes.obj -o cubes-$up.yaml --up $up
    grep -q '^it has 3 separate pieces, and the scene holds each of them$' out || fail "pieces: $(cat out)"
    expect 0 "$twang" run cubes-$up.yaml --duration 0.4 --fps 0 --quiet -o cubes-$up
    # Free fall would be 0.78 m deep, and no body stands on fewer than three of its particles.
    python3 - cubes-$up <<'PY' || fail "--up $up: a piece falls, or one is not held"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/final.csv")))
speed = [max(abs(float(r[k])) for k in ("vx", "vy", "vz")) for r in rows]
held = sum(s == 0 for s in speed)
sys.exit(not (9 <= held < len(rows) / 2 and max(speed) < 1.5))
PY
done

# ---- --set offers the nearest name of an entry ----
refused "--set bodies.ropp.mass=1: the list has no entry 'ropp', did you mean 'rope'?" \
    "$twang" check rest.yaml --set bodies.0.name=rope --set bodies.ropp.mass=1

# ---- an origin that rounds a body away is refused ----
refused "--set bodies.0.origin=[1e17, 0, 0]: bodies.0.origin is too far away: numbers are 22 m apart there, and the shortest element of the body is 0.1 m long" \
    "$twang" run rest.yaml --set 'bodies.0.origin=[1e17, 0, 0]'
expect 2 "$twang" run belt.yaml --set 'bodies.0.origin=[0, 1e12, 0.008]'
grep -q '^--set .*: bodies.0.origin is too far away' err || fail "a box far away: $(cat err)"
expect 0 "$twang" run rest.yaml --set 'bodies.0.origin=[1e6, 0, 0]' --duration 0.1 --quiet -o far

# ---- what a failed first step says to try works; check would fail likewise, and is not named ----
cat >swim.yaml <<'END'
name: swim
duration: 0.01
fps: 0
integrator: {name: bdf2, step: 0.005}
bodies:
  - {kind: cell, radii: [1e-6, 1e-6, 2e-6], stiffness: 1e-4, mass: 1e-15}
  - {kind: fibres, length: 5e-6, segments: 10, thickness: 3e-7, youngs_modulus: 1e5, shear_modulus: 4e4, density: 1000,
     origin: [0, 0, 2e-6], direction: [0, 0, 1], rooted: false, curl: {radius: 3e-7, pitch: 2e-6}}
forces:
  - {kind: motor, body: 1, stator: 0, torque: 1e-18, bearing: 1e-5}
fluid: {viscosity: 1e-3}
END
expect 1 "$twang" run swim.yaml --quiet -o swim
grep -q '^try adaptive steps (--rtol 1e-3), which find a first step by themselves, or another --integrator$' err ||
    fail "what to try in a fluid: $(cat err)"
expect 0 "$twang" run swim.yaml --rtol 1e-3 --quiet -o swim --force

finish "$tried pairs of check and run, $refusals refused; the small things hold"
