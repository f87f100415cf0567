#!/bin/sh
# twang mesh and twang fetch-meshes as their users meet them: exit codes, one line for what is wrong, reports.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

# no_solid MESSAGE COMMAND...: refused, and no file left
no_solid() {
    refused "$@"
    for file in solid*; do [ -e "$file" ] && fail "left $file after: $1"; done
}

# ---- every broken file: its line, exit code 2 ----
bad=0
for expected in "$source_tree"/tests/bad_meshes/*.expected; do
    mesh=${expected%.expected}
    no_solid "$mesh:$(cat "$expected")" "$twang" mesh "$mesh" solid.vtk
    bad=$((bad + 1))
done
[ "$bad" -ge 30 ] || fail "only $bad broken meshes"

# ---- wrong use ----
box=$source_tree/tests/meshes/meshio_surface.obj
no_solid "twang: mesh needs IN and OUT: twang mesh IN OUT [--vertices N] [--threads N] [--quiet] [--json]" "$twang" mesh "$box"
no_solid "twang: --vertices many is not a number from 8 to 100000000" "$twang" mesh "$box" solid.vtk --vertices many
no_solid "twang: --vertices 7 is not a number from 8 to 100000000" "$twang" mesh "$box" solid.vtk --vertices 7
no_solid "solid.xyz: unknown format, expected a name ending in .node, .ele, .msh, .vtk, .mesh, .obj or .ply" \
    "$twang" mesh "$box" solid.xyz --vertices 100
no_solid "none.obj: cannot be opened: No such file or directory" "$twang" mesh none.obj solid.vtk
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >sheet.obj
no_solid "sheet.obj: the surface encloses nothing, expected one that is closed, or nearly so" \
    "$twang" mesh sheet.obj solid.vtk --vertices 100
expect 1 "$twang" mesh "$box" no/such/folder/solid.vtk
[ "$(wc -l <err)" -eq 1 ] || fail "an unwritable folder: $(cat err)"

# ---- a limit of the file's size: one line, no half file (also of frames and checkpoints) ----
(ulimit -f 1 && expect 1 "$twang" mesh "$box" solid.vtk --vertices 500 && [ "$failures" -eq 0 ]) || fail "a limited mesh"
[ "$(cat err)" = "solid.vtk: cannot be written: File too large" ] || fail "a limited mesh: $(cat err)"
for file in solid*; do [ -e "$file" ] && fail "left $file after a full disk"; done
(ulimit -f 1 && exec "$twang" run rope -o limited --duration 0.1 --quiet) 2>err
code=$?
if [ "$code" -ne 1 ] || [ "$(wc -l <err)" -ne 1 ]; then fail "a limited run: $code: $(cat err)"; fi
[ -z "$(find . -name '*.part')" ] || fail "a limited run left $(find . -name '*.part')"

# ---- far too many vertices: the verdict comes at once, and has its place in a scene ----
cat >many.yaml <<END
name: many
duration: 1
integrator: {name: expmid2, step: 0.01}
bodies:
  - {kind: mesh, file: $box, vertices: 1e8, mass: 1, stiffness: 1e4}
END
if prlimit --as=4000000000 "$twang" --version >out 2>&1; then # not under AddressSanitizer
    prlimit --as=4000000000 "$twang" mesh "$box" solid.vtk --vertices 100000000 2>err && fail "1e8 vertices in 4 GB"
    grep -q "meshio_surface.obj: 100000000 vertices take about 18[0-9] GB of memory and 100 minutes, but [0-9.]* GB are free" err ||
        fail "a verdict: $(cat err)"
    prlimit --as=4000000000 "$twang" check many.yaml 2>err && fail "1e8 vertices in 4 GB"
    grep -q "^many.yaml:5:[0-9]*: .*100000000 vertices take about 18[0-9] GB" err || fail "a verdict of a scene: $(cat err)"
fi

# ---- filling, converting ----
expect 0 "$twang" mesh "$box" solid.ele --vertices 500
for word in vertices tetrahedra repairs dihedral distance; do grep -q "^$word" out || fail "the report lacks $word"; done
for file in solid.node solid.ele; do [ -s "$file" ] || fail "$file is missing"; done
expect 0 "$twang" mesh "$box" again.ele --vertices 500 --threads 3 --quiet
[ -s out ] && fail "--quiet printed $(cat out)"
for suffix in ele node; do cmp -s solid.$suffix again.$suffix || fail "three threads give another .$suffix"; done
expect 0 "$twang" mesh "$box" solid.msh --vertices 500 --json
python3 -c '
import json
r = json.load(open("out"))
assert 450 < r["vertices"] < 550, r
assert r["smallest_angle"] > 10 and abs(r["volume"] - 6) < 0.4 and r["repairs"]["flipped_cells"] == 8, r' || fail "the JSON of a report"
expect 0 "$twang" mesh solid.ele solid.mesh
grep -q "^repairs *none$" out || fail "a made mesh needs repairs: $(cat out)"
expect 0 "$twang" mesh "$source_tree/tests/meshes/gmsh_41.msh" box.vtk --json
grep -q '"lower_cells": 100' out || fail "repairs of a converted mesh: $(cat out)"

# ---- a mesh where a scene should be: the lines that make one of it, which can be run ----
cp "$box" own.obj
expect 2 "$twang" run own.obj
[ "$(head -1 err)" = "twang: own.obj is a mesh, and not a scene: save the lines below as a .yaml file beside it and run that" ] ||
    fail "a mesh as a scene: $(cat err)"
sed 1d err >own.yaml
expect 0 "$twang" run own.yaml -o own --duration 0.04 --quiet --set bodies.0.vertices=50
[ -s own/final.csv ] || fail "the scene of a mesh did not run"

# ---- fetching: the folder that is full already needs no npm; without npm one line ----
mkdir full empty bin
cp "$box" full/bunny.obj
for name in dragon dragon-full; do cp "$source_tree/tests/meshes/meshio_text.ply" full/$name.ply; done
for program in sh mkdir; do ln -s "$(command -v "$program")" bin/; done
expect 0 env PATH="$folder/bin" "$twang" fetch-meshes -o full
grep -q "full/dragon.ply: 40 vertices, 76 triangles" out || fail "meshes that are there: $(cat out)"
expect 1 env PATH="$folder/bin" "$twang" fetch-meshes -o empty
[ "$(cat err)" = "twang: fetch-meshes needs npm, which is not there (Debian: apt-get install npm)" ] || fail "without npm: $(cat err)"

finish "all as expected, $bad broken files"
