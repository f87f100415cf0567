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
no_solid "twang: mesh needs IN and OUT: twang mesh IN OUT [--vertices N] [--scale F] [--threads N] [--quiet] [--json]" "$twang" mesh "$box"
no_solid "twang: --vertices many is not a whole number from 8 to 100000000" "$twang" mesh "$box" solid.vtk --vertices many
no_solid "twang: --vertices 7 is not a whole number from 8 to 100000000" "$twang" mesh "$box" solid.vtk --vertices 7
no_solid "solid.xyz: unknown format, expected a name ending in .node, .ele, .msh, .vtk, .mesh, .obj or .ply" \
    "$twang" mesh "$box" solid.xyz --vertices 100
no_solid "none.obj: cannot be opened: No such file or directory" "$twang" mesh none.obj solid.vtk
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >sheet.obj
sheet_text="encloses nothing, expected one that is closed, or nearly so; twang new makes a scene in which it is a body of kind: sheet"
no_solid "sheet.obj: the surface is open (3 edges) and $sheet_text" "$twang" mesh sheet.obj solid.vtk --vertices 100
# A bent sheet, too, for any number of vertices.
awk 'BEGIN { for (i = 0; i < 100; i++) { x = (i % 10) / 9; printf "v %g %g %g\n", x, int(i / 10) / 9, 0.3 * x * x }
    for (i = 1; i < 90; i++) if (i % 10) printf "f %d %d %d %d\n", i, i + 1, i + 11, i + 10 }' >bent.obj
for count in 1000 40000; do
    no_solid "bent.obj: the surface is open (36 edges) and $sheet_text" "$twang" mesh bent.obj solid.vtk --vertices $count
done
echo text >file
expect 2 "$twang" mesh "$box" file/solid.vtk
[ "$(wc -l <err)" -eq 1 ] || fail "an unwritable folder: $(cat err)"

# ---- IN is never replaced ----
cp "$box" same.obj
ln -s same.obj link.obj
for out in same.obj ./same.obj link.obj; do
    refused "twang: mesh would replace same.obj by what it makes of it, name another file to write" "$twang" mesh same.obj $out --vertices 50
    cmp -s "$box" same.obj || fail "mesh same.obj $out replaced its input"
done
rm link.obj
cp "$source_tree/tests/meshes/meshio_solid.node" same.node
cp "$source_tree/tests/meshes/meshio_solid.ele" same.ele
refused "twang: mesh would replace same.ele by what it makes of it, name another file to write" "$twang" mesh same.ele same.node
cmp -s "$source_tree/tests/meshes/meshio_solid.node" same.node || fail "mesh same.ele same.node replaced its input"

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

# ---- run and check repeat what mesh says of a surface: two boxes are both kept, a fin that is lost is told ----
cat >pieces.py <<'END'
def box(low, high, first):
    v = [(x, y, z) for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])]
    f = [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)]
    return "".join("v %g %g %g\n" % p for p in v) + "".join("f %d %d %d\n" % tuple(i + first for i in t) for t in f)
open("two.obj", "w").write(box((0, 0, 0), (1, 1, 1), 1) + box((2, 0, 0), (3, 1, 1), 9))
open("comb.obj", "w").write(box((0, 0, 0), (1, 1, 1), 1) + box((0.9, 0.4, 0.45), (2, 0.45, 0.55), 9) + box((2, 0, 0), (2.3, 1, 1), 17))
END
python3 pieces.py
expect 0 "$twang" mesh two.obj two.vtk --vertices 300
grep -q "left out" out && fail "one of two boxes is left out: $(cat out)"
for name in two comb; do
    cat >$name.yaml <<END
name: $name
duration: 0.01
integrator: {name: verlet, step: 1e-3}
bodies: [{kind: mesh, file: $name.obj, vertices: 100, mass: 0.1, stiffness: 10}]
END
done
expect 0 "$twang" check two.yaml
[ -s err ] && fail "a warning without a reason: $(cat err)"
for verb in check "run -o comb"; do
    # shellcheck disable=SC2086
    expect 0 "$twang" ${verb%% *} comb.yaml ${verb#"${verb%% *}"}
    grep -q "^twang: bodies.0.file .*comb.obj: .* too small or thin for 100 vertices" err || fail "$verb does not tell what is lost: $(cat err)"
done

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

# ---- a mesh where a scene should be: what makes a scene of it, which can be run ----
cp "$box" own.obj
refused "twang: own.obj is a mesh, and not a scene: twang new own.obj makes a scene of it" "$twang" run own.obj
expect 0 "$twang" new own.obj
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
