#!/bin/sh
# check, bench and list on the scenes that come with twang; a scene with a mesh of its own, from another folder.
set -eu
twang=$TWANG_BUILD/twang
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_cli_scenes: $1" >&2; exit 1; }
# json EXPRESSION < FILE: the value of a Python expression in the object d
json() { python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"; }

# ---- check ----
"$twang" check coil --json >"$work/coil.json"
[ "$(json 'd["springs"], d["particles"], d["unknowns"], d["tetrahedra"]' <"$work/coil.json")" = "40951 8000 23808 26946" ] ||
    fail "check coil: $(cat "$work/coil.json")"
[ "$(json '3325 < d["omega_max"] < 3331 and d["omega_max"] < d["omega_bound"]' <"$work/coil.json")" = True ] || fail "omega_max"
[ "$(json 'd["suggested_steps"]["verlet"] < 2 / d["omega_max"] and d["memory_bytes"] > 0' <"$work/coil.json")" = True ] || fail "steps"
"$twang" check coil | grep -q "begin with" || fail "check coil says no steps"
[ ! -e runs ] || fail "check made a directory"

# ---- bench ----
"$twang" bench rope --integrators verlet,expmid2 --json >"$work/bench.json"
[ "$(json '[(t["integrator"], t["status"], t["error"] < 1e-4) for t in d["trials"]]' <"$work/bench.json")" = \
    "[('verlet', 'TW_OK', True), ('expmid2', 'TW_OK', True)]" ] || fail "bench: $(cat "$work/bench.json")"
"$twang" bench rope --integrators bdf1 --error 1e-3 --json >"$work/bench.json"
[ "$(json 'd["trials"][0]["error"] < 1e-3 and d["trials"][0]["step"] < 0.0025' <"$work/bench.json")" = True ] ||
    fail "bench --error: $(cat "$work/bench.json")"
code=0
"$twang" bench rope --integrators verlet,nope 2>"$work/error" || code=$?
[ $code -eq 2 ] || fail "bench with a wrong integrator: $code"
grep -q "no integrator 'nope'" "$work/error" || fail "bench with a wrong integrator: $(cat "$work/error")"

# ---- list ----
"$twang" list scenes >"$work/list"
for name in bar bunny bunny-wobble cantilever coil coil-hard dragon drop eiffel flag fput rope stiff-line; do
    grep -q "^$name " "$work/list" || fail "list scenes has no $name"
done

# ---- meshes ----
code=0
TWANG_MESHES=$work/none "$twang" check bunny 2>"$work/error" || code=$?
[ $code -eq 2 ] || fail "a missing mesh: $code"
grep -q 'bunny.yaml:[0-9]*:[0-9]*: bodies.0.file .*twang fetch-meshes' "$work/error" || fail "a missing mesh: $(cat "$work/error")"
mkdir "$work/a"
cat >"$work/a/cube.obj" <<END
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
cat >"$work/a/cube.yaml" <<END
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
(cd / && "$twang" run "$work/a/cube.yaml" -o "$work/out" --quiet) || fail "a mesh beside its scene"
grep -q "^v 2.* 2.* 2" "$(find "$work/out/frames" -name '*000000*.obj' | head -n 1)" || fail "the surface of the file is not in the frames"
(cd / && "$twang" resume "$work/out" >"$work/resume") || fail "resume of a run with a mesh"
grep -q "finished already" "$work/resume" || fail "resume: $(cat "$work/resume")"
