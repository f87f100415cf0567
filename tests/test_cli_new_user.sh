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
    expect 1 "$twang" $command file/below/it.vtk
    [ "$(cat err)" = "file/below: cannot be made: Not a directory" ] || fail "$command below a file: $(cat err)"
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
said cube.obj ""
said cube24.obj ""
said hidden.obj ""
said lid.obj "the surface is open (4 edges), and is filled as if it were closed; in a scene kind: sheet takes it as it is"
lost="1 separate piece, 0.01 m long, is too small or thin for 1000 vertices and left out: give more vertices, or a body of its own"
said near.obj "$lost"
said far.obj "$lost"

finish "what a new user types is understood, or refused in a clear line"
