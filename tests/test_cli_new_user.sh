#!/bin/sh
# What a new user types: outputs in folders that are not there, own meshes, wrong words.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
export OMP_NUM_THREADS=1

# Meshes: boxes as OBJ, whose vertices are shared or, as many programs write them, four for each face.
cat >boxes.py <<'END'
def box(low, high, first, is_split):
    v = [(x, y, z) for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])]
    f = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    if is_split:
        v, f = [v[i] for q in f for i in q], [tuple(range(4 * k, 4 * k + 4)) for k in range(6)]
    return "".join("v %g %g %g\n" % p for p in v) + "".join("f %d %d %d %d\n" % tuple(i + first for i in q) for q in f), len(v)
def write(name, *boxes, is_split=False, faces=None):
    text, first = "", 1
    for low, high in boxes:
        more, count = box(low, high, first, is_split)
        text, first = text + more, first + count
    open(name, "w").write("".join(line + "\n" for line in text.splitlines()[:faces]))
whole = (0, 0, 0), (1, 1, 1)
write("cube.obj", whole)
write("cube24.obj", whole, is_split=True)
write("lid.obj", whole, is_split=True, faces=29) # a face is missing
write("near.obj", whole, ((1.05, 0, 0), (1.06, 0.01, 0.01)))
write("plate.obj", ((0, 0, 0), (1, 1, 0.03)))
write("far.obj", whole, ((3, 0, 0), (3.01, 0.01, 0.01)))
write("hidden.obj", whole, ((0.5, 0.5, 0.5), (0.51, 0.51, 0.51)))
END
python3 boxes.py

# ---- -o makes its parents, for every verb that writes; a failure leaves none of them ----
quick="rope --integrator verlet --dt 0.0009765625 --duration 0.01 --quiet"
# shellcheck disable=SC2086
expect 0 "$twang" run $quick -o p/run/of/mine
expect 0 "$twang" new cube.obj -o p/new/scenes/cube.yaml
expect 0 "$twang" mesh cube.obj p/mesh/of/cube.vtk --vertices 100
expect 0 "$twang" export p/run/of/mine --format obj -o p/export/of/mine
expect 0 "$twang" report p/run/of/mine -o p/report/of/mine.html
expect 0 "$twang" bench rope --duration 0.01 --integrators verlet --svg p/bench/of/bars.svg
for file in run/of/mine/final.csv new/scenes/cube.yaml mesh/of/cube.vtk export/of/mine/frame_000000.obj report/of/mine.html \
    bench/of/bars.svg; do
    [ -s "p/$file" ] || fail "-o makes no $file"
done
expect 0 "$twang" run p/new/scenes/cube.yaml --duration 0.02 --quiet -o again # the mesh is named from the scene's own folder
mkdir -p q/scenes
for out in q/scenes/cube.yaml q/beside.yaml here.yaml "$folder/absolute.yaml" q/scenes/../up.yaml; do
    expect 0 "$twang" new cube.obj -o "$out"
    expect 0 "$twang" run "$out" --duration 0.02 --quiet -o again --force
done
cp cube.obj q/inner.obj
expect 0 "$twang" new q/inner.obj
grep -q 'file: "inner.obj"' q/inner.yaml || fail "a mesh beside its scene: $(grep file: q/inner.yaml)"

expect 2 "$twang" run rope --dt -1 -o none/run/here
expect 2 "$twang" run nosuch -o none/run/here
expect 2 "$twang" new nothing.obj -o none/new/here.yaml
expect 2 "$twang" mesh nothing.obj none/mesh/here.vtk
expect 2 "$twang" mesh cube.obj none/mesh/here.xyz
expect 2 "$twang" export nothing --format obj -o none/export/here
expect 2 "$twang" export p/run/of/mine --format png -o none/export/here
expect 2 "$twang" report nothing -o none/report/here.html
expect 2 "$twang" bench nosuch --svg none/bench/here.svg
expect 1 env PATH="$folder" "$twang" fetch-meshes -o none/meshes/here
[ ! -e none ] || fail "a failure left $(find none)"
mkdir -p kept/empty
expect 2 "$twang" mesh cube.obj kept/empty/new/here.xyz
[ -d kept/empty ] || fail "a failure removed a folder of the user"
[ ! -e kept/empty/new ] || fail "a failure left kept/empty/new"
echo text >file
for command in "new cube.obj -o" "mesh cube.obj" "export p/run/of/mine --format obj -o" "report p/run/of/mine -o"; do
    # shellcheck disable=SC2086
    expect 2 "$twang" $command file/below/it.vtk
    [ "$(cat err)" = "file is a file, and not a folder" ] || fail "$command below a file: $(cat err)"
done

# ---- new, mesh, check and run say the same of a surface ----
# said MESH TEXT: each of them says the text of it, and an empty text is no word at all
said() {
    name=${1%.obj}
    expect 0 "$twang" new "$1" -o "said/$name.yaml"
    cp err new-said
    expect 0 "$twang" mesh "$1" "said/$name.vtk" --vertices 1000
    cp err mesh-said
    expect 0 "$twang" check "said/$name.yaml"
    sed 's/bodies.0.file .*\///' err >check-said
    expect 0 "$twang" run "said/$name.yaml" --duration 0.02 -o "said/$name"
    sed 's/bodies.0.file .*\///' err >run-said
    : >expected
    [ -z "$2" ] || echo "twang: $1: $2" >expected
    for verb in new mesh check run; do
        cmp -s expected $verb-said || fail "$verb says of $1: '$(cat $verb-said)' instead of '$(cat expected)'"
    done
}
lost="1 separate piece, 0.01 m long, is too small or thin for 1000 vertices and left out: give more vertices, or a body of its own"
said lid.obj "the surface is open (4 edges), and is filled as if it were closed; in a scene kind: sheet takes it as it is"
said near.obj "$lost"
if [ -z "${TWANG_SAMPLE:-}" ]; then
    said cube.obj ""
    said cube24.obj ""
    said hidden.obj ""
    said far.obj "$lost"
    said plate.obj "it is so thin that it takes 2682 vertices instead of 1000; in a scene kind: sheet takes its surface alone"
fi

# ---- scenes of own meshes keep their energy: a solid, pieces, a level sheet, a saddle, a dome ----
cat >sheets.py <<'END'
from math import cos, pi, sin
def grid(name, n, m, place):
    at = [(i / (n - 1), j / (m - 1)) for j in range(m) for i in range(n)]
    cells = [(j * n + i + 1, j * n + i + 2, (j + 1) * n + i + 2, (j + 1) * n + i + 1) for j in range(m - 1) for i in range(n - 1)]
    open(name, "w").write("".join("v %g %g %g\n" % place(*p) for p in at) + "".join("f %d %d %d %d\n" % c for c in cells))
grid("flat.obj", 12, 12, lambda u, v: (u, v, 0))
grid("saddle.obj", 14, 14, lambda u, v: (u, v, 0.3 * ((u - 0.5) ** 2 - (v - 0.5) ** 2)))
angle = 0.475 * pi
grid("dome.obj", 24, 9, lambda u, v: (cos(2 * pi * u) * cos(angle * v), sin(2 * pi * u) * cos(angle * v), sin(angle * v)))
END
python3 sheets.py
for name in $(sample 'cube near flat saddle dome' flat); do
    expect 0 "$twang" new "$name.obj" -o "energy/$name.yaml"
    expect 0 "$twang" run "energy/$name.yaml" --fps 0 --quiet -o "energy/$name"
    [ "$(json 'd["energy_verdict"], d["energy_drift_max"] < 0.02' <"energy/$name/run.json")" = "kept True" ] ||
        fail "the scene of $name.obj loses energy: $(grep energy_ "energy/$name/run.json")"
done

# ---- a step that fails: check says what to try, in the words of run ----
for options in "--integrator midpoint --dt 10 --set integrator.newton_iterations=1" "--integrator verlet --dt 1e6"; do
    # shellcheck disable=SC2086
    expect 1 "$twang" check rope $options --duration 1e7 --fps 0
    tail -n 1 err >check-said
    # shellcheck disable=SC2086
    expect 1 "$twang" run rope $options --duration 1e7 --fps 0 --quiet -o failing --force
    grep '^try ' err | sed 's/; `twang check.*//' >run-said
    [ -s run-said ] || fail "run says nothing to try: $(cat err)"
    cmp -s check-said run-said || fail "$options: check says '$(cat check-said)', run '$(cat run-said)'"
done

# ---- names that are nearly right, or of something else ----
cp "$source_tree/scenes/rope.yaml" mine.yaml
mkdir -p empty
while IFS='|' read -r command message; do
    [ -n "$command" ] || continue
    eval "set -- $command"
    refused "twang: $message" timeout 60 "$twang" "$@"
done <<'END'
view rope --compare bdf|--compare: there is no integrator 'bdf', did you mean 'bdf1'?
bench rope --rival bdf|--rival: there is no integrator 'bdf', did you mean 'bdf1'?
bench rope --integrators RK4|--integrators: there is no integrator 'RK4', did you mean 'rk4'?
run ROPE|there is no scene 'ROPE', did you mean 'rope'?
run rope.yml|there is no file 'rope.yml', did you mean the scene 'rope'?
check no/such/Coil.yaml|there is no file 'no/such/Coil.yaml', did you mean the scene 'coil'?
run mine.yml|there is no file 'mine.yml', did you mean 'mine.yaml'?
run mine|there is no file 'mine', did you mean 'mine.yaml'?
run nosuch.obj|there is no file 'nosuch.obj'; it would be a mesh, of which twang new makes a scene
run ''|the name of the scene is empty, name a file or one of twang list scenes
run empty|empty is a directory, and not a scene: name a file in it, or one of twang list scenes
check ./empty|./empty is a directory, and not a scene: name a file in it, or one of twang list scenes
run p/run/of/mine|p/run/of/mine is the directory of a run, and not a scene: twang resume goes on with it, twang view shows it, and twang run p/run/of/mine/scene.yaml makes it again
resume mine.yaml|mine.yaml is a scene, and not the directory of a run: twang run mine.yaml makes one
resume rope|rope is a scene, and not the directory of a run: twang run rope makes one
resume cube.obj|cube.obj is a file, and not the directory of a run, such as runs/rope-1
resume ''|the name of the directory is empty, name that of a run, such as runs/rope-1
export mine.yaml --format obj|mine.yaml is a scene, and not the directory of a run: twang run mine.yaml makes one
report rope|rope is a scene, and not the directory of a run: twang run rope makes one
mesh cube.obj out.vtk --vertices 1e4|--vertices 1e4 is not a whole number from 8 to 100000000
new cube.obj -o folder/|folder/ is the name of a folder, name a file in it
report p/run/of/mine -o folder/|folder/ is the name of a folder, name a file in it
report p/run/of/mine --poster p.jpg|--poster p.jpg is a PNG picture, name it FILE.png
report p/run/of/mine --poster folder/|folder/ is the name of a folder, name a file in it
help nosuch|unknown verb 'nosuch', twang --help lists them
help Run|unknown verb 'Run', did you mean 'run'?
END

# ---- point caches and OBJ of several bodies: each has its name ----
cat >pair.yaml <<'END'
name: pair
duration: 0.02
fps: 100
integrator: {name: verlet, step: 1e-3}
output: {frames: [obj, pc2]}
bodies:
  - {kind: box, name: left, cells: [1, 1, 1], mass: 1, stiffness: 1e3}
  - {kind: box, name: right, cells: [1, 1, 1], mass: 1, stiffness: 1e3, origin: [2, 0, 0]}
END
expect 0 "$twang" run pair.yaml --quiet -o pair
for file in left.obj:left right.obj:right frame_000000.obj:leftright; do
    names=$(sed -n 's/^o //p' "pair/frames/${file%:*}" | tr -d '\n')
    [ "$names" = "${file#*:}" ] || fail "objects of ${file%:*}: $names"
done

# ---- no half picture, and a picture that was there stays ----
echo precious >keep.svg
for file in keep.svg lost/of/bars.svg; do
    (
        trap '' XFSZ
        ulimit -f 1
        "$twang" bench rope --duration 0.01 --svg "$file" >limited 2>&1
    ) && fail "bench --svg $file succeeds without room"
done
[ "$(cat keep.svg)" = precious ] || fail "bench cut a picture that was there"
if [ -e lost ] || [ -e keep.svg.part ]; then fail "bench left a half picture"; fi

# ---- a folder whose name YAML would read otherwise ----
mkdir 'k\x41d' kAd
cp cube.obj 'k\x41d/m.obj'
cp lid.obj kAd/m.obj
cd 'k\x41d' || exit 1
expect 2 "$twang" new m.obj -o ../other/s.yaml
cd .. || exit 1
[ ! -e other ] || fail "new made a scene of another mesh"

# ---- a command that is suggested can be typed, whatever a name holds ----
mkdir "my dir" "it's"
cp cube.obj "my dir/a cube.obj"
for name in "my dir/a scene.yaml" "it's/s.yaml"; do
    expect 0 "$twang" new "my dir/a cube.obj" -o "$name"
    suggested=$(sed -n 's/.*next: twang //p' out)
    expect 0 sh -c "'$twang' $suggested --duration 0.01 --quiet -o again --force"
done

# ---- memory: what the process has, and what the simulation reserves, are told apart ----
expect 0 "$twang" check stiff-line
grep -q '^  memory  *[0-9.]* MB in use after the first step, with the program itself; the simulation reserves ' out ||
    fail "memory of a first-order problem: $(cat out)"

# ---- make run ends by saying how to watch; its run is cut short here ----
mkdir made
printf '#!/bin/sh\nexec "%s" "$@" --duration 0.5\n' "$twang" >made/twang
chmod +x made/twang
expect 0 "$source_tree/tools/run_coil" "$folder/made"
grep -A 1 '^watch it and touch it$' out | grep -qx "  $folder/made/twang view coil" || fail "make run does not say how to watch: $(tail -n 12 out)"

finish "what a new user types is understood, or refused in a clear line"
