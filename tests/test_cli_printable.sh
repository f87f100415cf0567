#!/bin/sh
# Whatever stands in a name, a scene or a mesh: no control character reaches the terminal, and a complaint is one line.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

# An escape sequence, a bell, a newline, DEL, the one-byte and the two-byte form of another escape, bytes that are
# no UTF-8; and letters that stay as they are.
nasty=$(printf 'a\033[2J\007\nb\177\233\302\233\377\303\244')
shown='a\x1b[2J\x07\x0ab\x7f\x9b\xc2\x9b\xff'$(printf '\303\244')

# Everything that was printed is looked at in the end.
cat >judge.py <<'END'
text = open("printed", "rb").read().decode("utf-8", "surrogateescape")
for line in text.split("\n"):
    if any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xd800 <= ord(c) < 0xe000 for c in line):
        print(ascii(line))
END

# prints CODE LINES COMMAND...: the exit code, so many lines of complaint (- for any), nothing but printable characters
tried=0
prints() {
    lines=$2
    expected=$1
    shift 2
    expect "$expected" "$@"
    cat out err >>printed
    [ "$lines" = - ] || [ "$(wc -l <err)" -eq "$lines" ] || fail "$2: $(wc -l <err) lines: $(cat err)"
    tried=$((tried + 1))
}
named() { grep -qF "$shown" "$1" || fail "the name is not told: $(cat "$1")"; }

# ---- the command line ----
prints 2 1 "$twang" "$nasty"
named err
prints 2 1 "$twang" "--$nasty"
prints 2 1 "$twang" help "$nasty"
named err
for verb in run check bench view; do
    prints 2 1 "$twang" $verb "$nasty"
    named err
    prints 2 1 "$twang" $verb "$nasty.yaml"
done
for verb in resume "report" "export --format obj" "new" "fetch-meshes" completion list; do
    # shellcheck disable=SC2086
    prints 2 1 "$twang" $verb "$nasty"
done
prints 2 1 "$twang" mesh "$nasty.obj" out.vtk
prints 2 1 "$twang" mesh "$nasty.obj" "$nasty.vtk" --vertices "$nasty"
for option in --integrator --dt --rtol --duration --set --threads --frames --energy-limit "--$nasty"; do
    prints 2 1 "$twang" run rope "$option" "$nasty"
done
for set in "name=$nasty" "$nasty=1" "integrator.$nasty=1" "bodies.0.stiffness=$nasty" "bodies.0.$nasty={}" "name=\"\\e[2J\"" \
    "name=\"a\\x9b2J\""; do
    prints 2 1 "$twang" run rope --set "$set" -o never
done
[ -e never ] && fail "a run with such a name began"

# ---- names of files ----
expect 0 "$twang" run rope --integrator verlet --dt 1e-3 --duration 0.02 --quiet -o plain
mkdir "$nasty"
prints 0 0 "$twang" run rope --integrator verlet --dt 1e-3 --duration 0.02 -o "$nasty/run"
named out
prints 0 0 "$twang" run rope --integrator verlet --dt 1e-3 --duration 0.02 -o "$nasty/run" --force --json
json "d['status']" <out >/dev/null || fail "the JSON of a run: $(cat out)"
prints 0 0 "$twang" resume "$nasty/run"
named out
prints 2 1 "$twang" run rope -o "$nasty/run"
named err
prints 0 0 "$twang" export "$nasty/run" --format obj -o "$nasty/export"
named out
prints 0 0 "$twang" export "$nasty/run" --format obj -o "$nasty/export" --json
json "d['frames']" <out >/dev/null || fail "the JSON of an export: $(cat out)"
prints 0 0 "$twang" report "$nasty/run"
named out
prints 0 0 "$twang" report "$nasty/run" --json
json "d['frames']" <out >/dev/null || fail "the JSON of a report: $(cat out)"
prints 1 - "$twang" run rope --integrator rk4 --dt 1 --duration 9 -o "$nasty/failed"
named err
echo "changed" >>"$nasty/run/scene.yaml"
prints 2 1 "$twang" resume "$nasty/run"
prints 2 1 "$twang" run rope -o "$nasty/run" --force
cp plain/scene.yaml "$nasty/scene.yaml"
prints 0 0 "$twang" check "$nasty/scene.yaml"
named out
prints 0 0 "$twang" check "$nasty/scene.yaml" --json
json "d['name']" <out >/dev/null || fail "the JSON of a check: $(cat out)"
prints 0 0 env TWANG_SCENES="$nasty" "$twang" list scenes
prints 0 0 env TWANG_SCENES="$nasty" "$twang" list scenes --json
json "len(d)" <out >/dev/null || fail "the JSON of a list: $(cat out)"
cp "$source_tree/tests/meshes/meshio_surface.obj" "$nasty/shape.obj"
prints 0 0 "$twang" new "$nasty/shape.obj"
prints 2 1 "$twang" new "$nasty/shape.obj" -o other.yaml
cp "$nasty/shape.obj" shape.obj
prints 0 0 "$twang" new shape.obj -o "$nasty/new.yaml"
named out
prints 2 1 "$twang" new shape.obj -o "$nasty/new.yaml"
prints 0 0 "$twang" mesh "$nasty/shape.obj" "$nasty/solid.vtk" --vertices 60 --json
prints 2 1 "$twang" mesh "$nasty/shape.obj" "$nasty/shape.obj/solid.vtk" --vertices 60
named err

# ---- what stands in scenes ----
# in_scene LINE: a scene that holds this line
in_scene() {
    printf 'name: rope\nduration: 0.01\nintegrator: {name: verlet, step: 1e-3}\n%b\n' "$1" >scene.yaml
    prints 2 1 "$twang" check scene.yaml
    grep -q '^scene.yaml:[0-9]*:[0-9]*: ' err || fail "no place: $(cat err)"
}
for text in '"\\\\e[2J\\\\a"' '"\\\\n\\\\x7f"' '"\\\\x9b2J"' '"\\\\u009b2J\\\\u0085"' "\\0233" "\\0377\\0376" "a\\0033[2J" "a\\0177b"; do
    in_scene "bodies: [{kind: $text}]"
    in_scene "bodies: [{kind: rope, $text: 1}]"
    in_scene "bodies: [{kind: rope, name: $text}]"
    in_scene "bodies: [{kind: rope, count: $text}]"
    in_scene "bodies: [{kind: mesh, file: $text, mass: 1, stiffness: 1}]"
    in_scene "bodies: [{kind: rope}]\\nmotions: [{kind: formula, from: 0, x: $text}]"
    in_scene "bodies: [{kind: rope}]\\n$text: 1"
done

# ---- what stands in meshes ----
for name in mesh.obj mesh.ply mesh.stl mesh.vtk mesh.msh mesh.mesh mesh.node; do
    for first in '' 'ply\nformat ascii 1.0\n' 'ply\n' '# vtk DataFile Version ' 'v 0 0 ' "\$MeshFormat\n" 'MeshVersionFormatted '; do
        printf '%b\033[2J\007\177\233\302\233\377 \033]0;x\007\n' "$first" >$name
        prints 2 1 "$twang" mesh $name out.vtk
    done
done

python3 judge.py >bad
[ -s bad ] && fail "printed as it is: $(cat bad)"
finish "$tried commands printed no control character"
