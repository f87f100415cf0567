#!/bin/sh
# Frames in every format: read independently, the same whether written by the run or converted afterwards, and whatever
# the disk does.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
reader=$TWANG_SOURCE/tests/support/read_frames.py

all='output.frames=[csv, vtu, ply, obj, pc2]'
coil="coil --duration 0.25 --fps 20 --integrator verlet --dt 1e-4 --set bodies.0.sections=40 --quiet"
# shellcheck disable=SC2034  # used by name
rope="rope --integrator verlet --dt 1e-3 --fps 20 --quiet"
for name in coil rope; do
    eval "arguments=\$$name"
    # shellcheck disable=SC2154,SC2086
    "$twang" run $arguments --set "$all" -o "$name" || fail "$name does not run"
    python3 "$reader" "$name" "$name" || fail "$name: a format is wrong"
    # converted afterwards, from csv and from vtu, it is the same bytes
    for source in csv vtu; do
        # shellcheck disable=SC2086
        "$twang" run $arguments --set "output.frames=$source" -o "$name-$source"
        for format in csv vtu ply obj pc2; do
            [ "$format" = "$source" ] && continue
            "$twang" export "$name-$source" --format "$format" --quiet || fail "$name: export $format"
        done
        diff -r "$name/frames" "$name-$source/frames" || fail "$name: exported from $source is different"
        cmp "$name/frames.pvd" "$name-$source/frames.pvd" || fail "$name: another index"
    done
done

# ---- a surface of the user's own, filled with tetrahedra: exported vertex for vertex, falling as it must, with its
# polygons, texture coordinates, groups and materials; resumed and converted afterwards it is the same bytes ----
cp "$TWANG_SOURCE/tests/interop/ball.obj" "$TWANG_SOURCE/tests/interop/ball.yaml" .
"$twang" run ball.yaml --quiet --frames csv,obj,pc2,ply -o ball || fail "the ball does not run"
python3 - <<'END' || fail "the embedded surface is not the user's"
import struct

def lines(path):
    return [line.split("#")[0].split() for line in open(path) if line.strip() and line[0] != "#"]

def vertices(path):
    return [[float(x) for x in words[1:]] for words in lines(path) if words[0] == "v"]

def others(path):
    """All but vertices and normals, which change with the motion; a corner is vertex/texture."""
    for words in lines(path):
        if words[0] == "f":
            yield ["f"] + ["/".join(corner.split("/")[:2]) for corner in words[1:]]
        elif words[0] not in ("v", "vn"):
            yield words

given, rest = vertices("ball.obj"), list(others("ball.obj"))
counts = {kind: sum(words[0] == kind for words in rest) for kind in ("f", "vt", "usemtl", "g", "o", "s", "mtllib")}
assert counts == {"f": 85, "vt": 115, "usemtl": 2, "g": 3, "o": 1, "s": 3, "mtllib": 1} and len(given) == 87, counts
assert {len(words) for words in rest if words[0] == "f"} == {4, 5, 13}
for index, name in ((0, "ball.obj"), (0, "frame_000000.obj"), (10, "frame_000010.obj")):
    t = index / 20
    now = vertices("ball/frames/" + name)
    assert len(now) == len(given), name
    for a, b in zip(given, now):
        fallen = [a[0], a[1], a[2] + 3 - 9.81 * t * t / 2]
        assert max(abs(x - y) for x, y in zip(fallen, b)) < 1e-8, (name, a, b)
    # the shape of the cache has a line for the vertex that no face uses, so that Blender keeps it
    assert list(others("ball/frames/" + name)) == rest + [["l", "86", "86"]] * (name == "ball.obj"), name

data = open("ball/frames/frame_000010.ply", "rb").read()
at = data.index(b"end_header\n") + 11 + 87 * 16
for words in rest:
    if words[0] == "f":
        found = struct.unpack_from(f"<B{len(words) - 1}i", data, at)
        assert list(found) == [len(words) - 1] + [int(c.split("/")[0]) - 1 for c in words[1:]], (words, found)
        at += 1 + 4 * (len(words) - 1)
END
slow="--integrator verlet --dt 1e-4 --quiet --frames obj,pc2,ply"
# shellcheck disable=SC2086
"$twang" run ball.yaml $slow -o whole || fail "the ball by verlet"
# shellcheck disable=SC2086
"$twang" run ball.yaml $slow -o part 2>err &
job=$!
while [ ! -f part/frames/frame_000003.obj ] && kill -0 "$job"; do sleep 0.01; done
kill -INT "$job"
wait "$job"
[ $? -eq 130 ] || fail "the ball was not interrupted"
"$twang" resume part --quiet || fail "the ball does not go on"
diff -r whole/frames part/frames || fail "the ball resumed is another"
"$twang" run ball.yaml --quiet --frames csv -o late
for format in obj pc2 ply; do "$twang" export late --format $format --quiet || fail "the ball: export $format"; done
diff -r ball/frames late/frames || fail "the ball converted afterwards is another"

# ---- names of files: of the mesh, or given, or of the kind; none twice ----
cp ball.obj frame_000001.obj
ball='kind: mesh, vertices: 100, density: 100, material: neo-hookean, youngs_modulus: 2e4'
cat >names.yaml <<END
name: names
duration: 0.02
fps: 50
gravity: [0, 0, -9.81]
integrator: {name: verlet, step: 1e-3}
bodies:
  - {$ball, file: ball.obj}
  - {$ball, file: ball.obj, origin: [4, 0, 0]}
  - {$ball, file: frame_000001.obj, origin: [8, 0, 0]}
  - {$ball, file: ball.obj, name: head-1.2, origin: [12, 0, 0]}
  - {kind: rope, origin: [16, 0, 0]}
END
"$twang" run names.yaml --quiet --frames obj,pc2 -o names || fail "bodies with names do not run"
[ "$(cd names/frames && echo *.pc2)" = "ball.pc2 ball_2.pc2 body_frame_000001.pc2 head-1.2.pc2 rope.pc2" ] ||
    fail "the files are called $(ls names/frames)"
[ "$(grep '^o ' names/frames/frame_000001.obj | tr '\n' ' ')" = "o Ball o Ball o Ball o Ball o rope " ] || fail "objects in a frame"
[ "$(tail -n 1 names/frames/ball_2.obj)" = "l 86 86" ] || fail "the second ball is not counted from 1"
refused "--set bodies.0.name=a/b: bodies.0.name is 'a/b', which has '/' in it, must be a name of letters, digits, '.', '_' and '-'" \
    "$twang" check ball.yaml --set bodies.0.name=a/b

# ---- --frames is short for the key ----
"$twang" run rope --integrator verlet --dt 1e-3 --fps 5 --frames obj,vtu --quiet -o short || fail "--frames obj,vtu"
[ "$(echo short/frames/*1.*)" = "short/frames/frame_000001.obj short/frames/frame_000001.vtu" ] || fail "--frames wrote $(echo short/frames/*1.*)"
refused "--frames vtu,gif: output.frames.1 is 'gif', must be one of none, csv, vtu, ply, obj, pc2, or a list of them" \
    "$twang" run rope --frames vtu,gif

# ---- elsewhere, and as JSON ----
"$twang" export rope-csv --format vtu -o series --json >out || fail "export -o"
python3 -m json.tool out >/dev/null || fail "no JSON: $(cat out)"
grep -q '"path": "series/frames.pvd"' out || fail "export -o says $(cat out)"
cmp series/frame_000003.vtu rope/frames/frame_000003.vtu || fail "export -o is different"
grep -q 'file="frame_000003.vtu"' series/frames.pvd || fail "the index of export -o"

# ---- --force leaves nothing of the run before ----
"$twang" run rope --integrator verlet --dt 1e-3 --fps 2 --quiet -o rope --force
[ "$(ls rope/frames)" = frame_000000.csv ] || fail "--force left other files"
[ -e rope/frames.pvd ] && fail "--force left the index"

# ---- refusals ----
refused "there is no format 'vtk', did you mean vtu?" "$twang" export rope-csv --format vtk
refused "rope-csv: its frames are csv already" "$twang" export rope-csv --format csv
refused "twang: export needs --format: one of vtu, ply, obj, pc2, csv" "$twang" export rope-csv
refused "nothing: holds no run (no scene.yaml in it), name the directory of one" "$twang" export nothing --format vtu
"$twang" run rope --integrator verlet --dt 1e-3 --quiet --set output.frames=ply -o surfaces
refused "surfaces: has no frames in csv or vtu, which hold all of a state; run it with fps > 0 and one of these" \
    "$twang" export surfaces --format vtu
refused "--set output.frames=obj: output.frames: obj shows bodies, and a system of equations has none: use csv" \
    "$twang" run fput --fps 1 --set output.frames=obj
"$twang" run fput --fps 1 --duration 3 -o fput --quiet
refused "vtu shows bodies, and a system of equations has none: use csv" "$twang" export fput --format vtu

# ---- damaged and half-written frames ----
cp -r rope-vtu broken
rm broken/frames/*.csv
truncate -s -10 broken/frames/frame_000008.vtu
"$twang" export broken --format obj --json | grep -q '"frames": 9' || fail "a trailer alone was missed"
truncate -s 600 broken/frames/frame_000008.vtu
expect 2 "$twang" export broken --format obj # run.json counts nine of them
rm broken/run.json                           # as after a kill
"$twang" export broken --format obj --json | grep -q '"frames": 8' || fail "a half-written last frame was not left out"
truncate -s 600 broken/frames/frame_000003.vtu
refused "broken/frames/frame_000003.vtu: is damaged, or was not written by twang" "$twang" export broken --format obj
cp -r rope-csv broken-csv
sed -i '4s/,.*//' broken-csv/frames/frame_000002.csv
refused "broken-csv/frames/frame_000002.csv:4: is not a whole row of numbers" "$twang" export broken-csv --format obj

# ---- a disk that is full: one clear line, nothing lost ----
for format in vtu ply obj pc2 csv; do
    # shellcheck disable=SC2086
    (ulimit -f 60; exec "$twang" run $coil --set "output.frames=$format" -o "full-$format" --set output.checkpoint_every=0.02 >out 2>err)
    [ $? -eq 1 ] || fail "a full disk with $format: not exit 1"
    grep -q "^full-$format/.*: cannot be written: File too large; nothing is lost, go on with: twang resume full-$format$" err || fail "a full disk with $format: $(cat err)"
    "$twang" resume "full-$format" --quiet || fail "$format does not resume once there is room"
    cmp -s "full-$format/final.csv" coil/final.csv || fail "a full disk with $format changes the result"
    for file in "full-$format/frames/"*; do
        cmp "$file" "coil/frames/$(basename "$file")" || fail "a full disk changed $file"
    done
done
(ulimit -f 60; exec "$twang" export coil-csv --format vtu -o small 2>err)
[ $? -eq 1 ] || fail "export onto a full disk: not exit 1"
[ "$(wc -l <err)" -eq 1 ] || fail "export onto a full disk: $(cat err)"

finish "all as expected"
