#!/bin/sh
# Other people's files: never removed, never replaced, never written through a link; what is gone or changed is noticed.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
run="rope --integrator verlet --dt 1e-3 --duration 0.05 --quiet"

# same FILE TEXT: the file has this text
same() { [ "$(cat "$1" 2>/dev/null)" = "$2" ] || fail "$1 was changed or removed"; }

# ---- --force: a directory that is no run of ours ----
mkdir -p mine/frames
for name in scene.yaml final.csv run.json frames.pvd frames/frame_000000.csv frames/rope.obj; do echo "my $name" >"mine/$name"; done
# shellcheck disable=SC2086
refused "mine: is not the directory of a run (it has no manifest.txt of one), name another one" "$twang" run $run -o mine --force
for name in scene.yaml final.csv run.json frames.pvd frames/frame_000000.csv frames/rope.obj; do same "mine/$name" "my $name"; done
[ -e mine/manifest.txt ] && fail "a refused directory was written to"

# ---- --force: a run of ours with files of the user ----
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o ours --set 'output.frames=[csv, pc2]'
echo note >ours/notes.txt
echo shape >ours/frames/mine.obj
echo cache >ours/frames/mine.pc2
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o ours --force
same ours/notes.txt note
same ours/frames/mine.obj shape
same ours/frames/mine.pc2 cache
[ -e ours/frames/rope.pc2 ] && fail "--force left a file of the run before"

# A frame of the user with a number that no frame of the run has is his own; so is one in another spelling.
echo "frame of mine" >ours/frames/frame_000099.csv
echo "another frame" >ours/frames/frame_1.csv
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o ours --force
same ours/frames/frame_000099.csv "frame of mine"
same ours/frames/frame_1.csv "another frame"
echo "frame of mine" >ours/frames/frame_000006.csv # the run has six: 0 to 5
expect 0 "$twang" export ours --format ply -o export-six --json
grep -q '"frames": 6,' out || fail "a frame of the user was read as one of the run: $(cat out)"
refused "ours/frames/frame_*.csv: is there already and was not written by twang, name another directory" \
    "$twang" run rope --integrator verlet --dt 1e-3 --duration 0.1 --quiet -o ours --force
same ours/frames/frame_000006.csv "frame of mine"
rm ours/frames/frame_000006.csv
# A resumed run cuts its own frames and no others.
sed -i 's/"done"/"running"/' ours/run.json
expect 0 "$twang" resume ours --quiet
same ours/frames/frame_000099.csv "frame of mine"

echo "vtu of mine" >ours/frames/frame_000003.vtu
# shellcheck disable=SC2086
refused "ours/frames/frame_*.vtu: is there already and was not written by twang, name another directory" \
    "$twang" run $run -o ours --force --set output.frames=vtu
same ours/frames/frame_000003.vtu "vtu of mine"
echo "# by hand" >>ours/scene.yaml
# shellcheck disable=SC2086
refused "ours/scene.yaml: was changed by hand, move it away or name another directory" "$twang" run $run -o ours --force
mkdir empty
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o empty --force

# ---- last_good.csv: of twang after a failure, else of the user ----
for name in longer again; do
    # shellcheck disable=SC2086
    expect 0 "$twang" run $run -o $name
    grep -q last_good $name/manifest.txt && fail "the manifest names a last good state of a run that did not fail"
    echo mine >$name/last_good.csv
done
expect 0 "$twang" resume longer --duration 0.1 --quiet
same longer/last_good.csv mine
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o again --force
same again/last_good.csv mine
# A run that fails leaves that of the user, and does not say that it is its own.
explodes="rope --integrator verlet --dt 0.02 --duration 2 --quiet"
# shellcheck disable=SC2086
expect 1 "$twang" run $explodes -o again --force
same again/last_good.csv mine
grep -q last_good err && fail "a file of the user is called the last good state: $(cat err)"
# Its own is in the manifest, also after a failed attempt to go on, and goes by --force.
# shellcheck disable=SC2086
expect 1 "$twang" run $explodes -o failed
grep -qx last_good.csv failed/manifest.txt || fail "the manifest does not name the last good state"
expect 1 "$twang" resume failed --duration 3 --quiet
grep -qx last_good.csv failed/manifest.txt || fail "the manifest of a longer run forgot the last good state"
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o failed --force
[ -e failed/last_good.csv ] && fail "--force left the last good state of the run before"
# It goes, too, when the run comes to its end after all: here files were limited to 20 KiB at first.
(ulimit -f 40; trap '' XFSZ; "$twang" run rope --integrator verlet --dt 1e-4 --duration 0.2 --quiet -o limited 2>err)
grep -qx last_good.csv limited/manifest.txt || fail "the manifest does not name the last good state: $(cat err)"
[ -e limited/last_good.csv ] || fail "no last good state: $(cat err)"
expect 0 "$twang" resume limited --quiet
[ -e limited/last_good.csv ] && fail "a run that came to its end kept its last good state"
grep -q last_good limited/manifest.txt && fail "the manifest names a last good state that is gone"
# What an export wrote beside the run stays known when the run gets longer.
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o exported
expect 0 "$twang" export exported --format ply --quiet
expect 0 "$twang" resume exported --duration 0.1 --quiet
expect 0 "$twang" export exported --format ply --quiet

# ---- a manifest from anywhere ----
cp -r empty crafted
mkdir victim
echo precious >victim/file
printf '../victim/file\n/etc/passwd\nframes/../../victim/file\nframes/..\n.\nframes\nmine\n' >>crafted/manifest.txt
mkdir crafted/mine # a line that names a folder is passed over
echo "of the user" >crafted/mine/file
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o crafted --force
same victim/file precious
same crafted/mine/file "of the user"

# ---- -o names a file ----
echo "my text" >afile
# shellcheck disable=SC2086
refused "afile: is not a directory, name one to write to" "$twang" run $run -o afile
# shellcheck disable=SC2086
refused "afile: is not a directory, name one to write to" "$twang" run $run -o afile --force
refused "afile: is not a directory, name one to write to" "$twang" export ours --format ply -o afile
same afile "my text"

# ---- export ----
# shellcheck disable=SC2086
expect 0 "$twang" run $run -o source
mkdir target
echo "my shape" >target/rope.obj
refused "target/rope.obj: is there already and was not written by twang, name another directory" \
    "$twang" export source --format pc2 -o target
same target/rope.obj "my shape"
echo "my frame" >target/frame_000003.obj
refused "target/frame_*.obj: is there already and was not written by twang, name another directory" \
    "$twang" export source --format obj -o target
same target/frame_000003.obj "my frame"
expect 0 "$twang" export source --format ply -o target --quiet
expect 0 "$twang" export source --format ply -o target --quiet # what it wrote itself it may write again
# A shorter series leaves nothing of the longer one before it, and a longer one nobody else's file.
expect 0 "$twang" run rope --integrator verlet --dt 1e-3 --duration 0.2 --quiet -o long
expect 0 "$twang" export long --format ply -o target --quiet
[ -e target/frame_000020.ply ] || fail "21 frames, but not the last one"
expect 0 "$twang" export source --format ply -o target --quiet
[ -e target/frame_000006.ply ] && fail "a frame of the longer series is left"
expect 0 "$twang" export source --format ply -o short --quiet
echo "my frame" >short/frame_000010.ply
refused "short/frame_*.ply: is there already and was not written by twang, name another directory" \
    "$twang" export long --format ply -o short
same short/frame_000010.ply "my frame"
same target/rope.obj "my shape"
same target/frame_000003.obj "my frame"

# ---- links inside the directory ----
# unfinished NAME: a run that looks as if it were killed at its end
unfinished() {
    # shellcheck disable=SC2086
    expect 0 "$twang" run $run -o "$1"
    rm "$1/run.json"
}
for name in telemetry.csv scene.yaml checkpoint.bin frames; do
    unfinished "linked-$name"
    mv "linked-$name/$name" elsewhere
    ln -s ../elsewhere "linked-$name/$name"
    find elsewhere -type f -exec cat {} + | cksum >before
    "$twang" resume "linked-$name" --quiet 2>err && fail "a link $name was followed"
    find elsewhere -type f -exec cat {} + | cksum >after
    cmp -s before after || fail "written through a link $name"
    rm -r elsewhere
done
# --force removes nothing through a link: a folder of frames that is one belongs to somebody else.
cp -r source forced
mv forced/frames elsewhere
ln -s ../elsewhere forced/frames
find elsewhere -type f -exec cat {} + | cksum >before
# shellcheck disable=SC2086
refused "forced/frames: is a link, which twang does not follow here" "$twang" run $run -o forced --force
find elsewhere -type f -exec cat {} + | cksum >after
cmp -s before after || fail "--force removed frames through a link"
rm -r elsewhere
for name in final.csv run.json telemetry.csv checkpoint.bin scene.yaml; do
    [ -e forced/$name ] || fail "--force refused a link, but not before $name was removed"
done
# whole MESSAGE COMMAND...: refused, and every file in odd is there as before
whole() {
    find odd | sort >before
    refused "$@"
    find odd | sort >after
    cmp -s before after || fail "refused after files were removed: $(diff before after | head -n 3)"
}
# The same without new frames, and for a folder, a file or a link where something else is expected.
rm -rf odd && cp -r forced odd
# shellcheck disable=SC2086
whole "odd/frames: is a link, which twang does not follow here" "$twang" run $run -o odd --force --fps 0
rm odd/frames
echo mine >odd/frames
# shellcheck disable=SC2086
whole "odd/frames: is not a directory, name one to write to" "$twang" run $run -o odd --force
for name in telemetry.csv final.csv frames/frame_000003.csv final.csv.part; do
    rm -rf odd && cp -r source odd
    rm -f odd/$name
    mkdir odd/$name
    # shellcheck disable=SC2086
    whole "odd/$name: is not a regular file, which twang expects here" "$twang" run $run -o odd --force
    rmdir odd/$name
    ln -s "$folder/afile" odd/$name
    # shellcheck disable=SC2086
    whole "odd/$name: is a link, which twang does not follow here" "$twang" run $run -o odd --force
done
same afile "my text"
# A frame that is a link is not read.
cp -r source linked-frame
frame=$(find linked-frame/frames -name 'frame_*' | sort | head -n 1)
mv "$frame" elsewhere
ln -s ../../elsewhere "$frame"
"$twang" export linked-frame --format ply -o linked-out --quiet 2>err && fail "a frame was read through a link"
grep -q 'is a link, which twang does not follow here' err || fail "a link as a frame: $(cat err)"

# ---- what is no file: a pipe is never waited for ----
# at_once COMMAND...: it ends by itself, with code 2 and one line that names $piped
at_once() {
    timeout 20 "$@" >out 2>err
    code=$?
    [ "$code" -eq 2 ] || fail "$*: exit $code with a pipe as $piped: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
    grep -q "$piped: is not a regular file, which twang expects here" err || fail "a pipe as $piped: $(cat err)"
}
for name in telemetry.csv scene.yaml checkpoint.bin run.json final.csv last_good.csv; do
    unfinished "pipe-$name"
    rm -f "pipe-$name/$name"
    mkfifo "pipe-$name/$name"
    piped=pipe-$name/$name
    at_once "$twang" resume "pipe-$name" --quiet
    [ -p "$piped" ] || fail "$piped was replaced"
done
cp -r source pipe-frame
piped=$(find pipe-frame/frames -name 'frame_*' | sort | head -n 1)
rm "$piped"
mkfifo "$piped"
at_once "$twang" export pipe-frame --format ply -o pipe-out --quiet
at_once "$twang" report pipe-frame --quiet
cp -r source pipe-manifest
piped=pipe-manifest/manifest.txt
rm "$piped"
mkfifo "$piped"
# shellcheck disable=SC2086
at_once "$twang" run $run -o pipe-manifest --force
cp -r source pipe-half
piped=pipe-half/run.json.part
mkfifo "$piped"
rm pipe-half/run.json
at_once "$twang" resume pipe-half --quiet

# A report reads what it finds, and does not wait for the rest.
cp -r source pipe-report
rm pipe-report/telemetry.csv
mkfifo pipe-report/telemetry.csv
timeout 60 "$twang" report pipe-report --quiet 2>err || fail "a report with a pipe as telemetry.csv: $(cat err)"

# A mesh is read more than once, which a pipe does not allow.
mkfifo mesh.obj
cat >piped.yaml <<'END'
name: piped
duration: 0.01
integrator: {name: verlet, step: 0.001}
bodies: [{kind: mesh, file: mesh.obj, vertices: 60, material: springs, stiffness: 100, mass: 0.1}]
END
refused "piped.yaml:4:29: bodies.0.file is 'mesh.obj', which is not a regular file" timeout 20 "$twang" run piped.yaml -o piped --quiet
[ -e piped ] && fail "a run that could not start left its directory"

# ---- frames that were removed ----
# source has six frames, 0 to 5
for number in 0 2 5; do
    rm -rf gap
    cp -r source gap
    rm gap/frames/frame_00000$number.csv
    refused "gap/frames/frame_00000$number.csv: is missing" "$twang" export gap --format ply -o gap-out --quiet
    refused "gap/frames/frame_00000$number.csv: is missing" "$twang" report gap --quiet
done
[ -e gap/report.html ] && fail "a report of a run with a gap"
# A finished run's last frame is never dropped silently; a killed run's last one may be half.
cp -r source half
: >half/frames/frame_000005.csv
expect 2 "$twang" export half --format ply -o half-out --quiet
rm half/run.json
expect 0 "$twang" export half --format ply -o half-out --json
grep -q '"frames": 5,' out || fail "the half frame of a killed run: $(cat out)"

# ---- report ----
cp -r source reported
echo "my page" >reported/report.html
refused "reported/report.html: is there already and is no report, name another file by -o" "$twang" report reported --quiet
same reported/report.html "my page"
rm reported/report.html
echo precious >elsewhere
ln -s ../elsewhere reported/report.html.part
expect 0 "$twang" report reported --quiet
same elsewhere precious
expect 0 "$twang" report reported --quiet # its own report it may write again

# A record that is cut, empty, or no JSON at one place makes no page.
cp -r source torn
head -c 300 source/run.json >torn/run.json
refused "torn/run.json: is damaged, line $(wc -l <torn/run.json | awk '{print $1 + 1}') is no JSON; resume the run, which writes it again" \
    "$twang" report torn --quiet
for text in '' '[]' '{"a": NaN}' '{"a": 1,}' '{"a": 01}' '{"a": "\x"}' '{"a": 1} {}' '{"a" 1}' '{"a": [1, 2}' '{"a": "b'; do
    printf '%s' "$text" >torn/run.json
    refused "torn/run.json: is damaged, line 1 is no JSON; resume the run, which writes it again" "$twang" report torn --quiet
done
[ -e torn/report.html ] && fail "a report of a damaged record"
for text in '{}' ' {"a": [-0.5e+3, {}, [], null, true, false], "\u00e4\"": "<b>"} '; do
    printf '%s' "$text" >torn/run.json
    expect 0 "$twang" report torn --quiet
done

# The same holds for telemetry: a header of something else, a short line, and what is no number.
cp -r source torn-numbers
for line in 1 2 3; do
    case $line in
        1) printf 'garbage\n1,2,3\n' ;;
        2) sed '2s/,[^,]*$//' source/telemetry.csv ;;
        3) sed '3s/,[^,]*,/,nan,/' source/telemetry.csv ;;
    esac >torn-numbers/telemetry.csv
    for verb in report "view --no-browser"; do
        # shellcheck disable=SC2086
        refused "torn-numbers/telemetry.csv:$line: is damaged, expected the numbers that twang run writes; without this file there are no charts" timeout 60 "$twang" $verb torn-numbers
    done
done
rm torn-numbers/telemetry.csv
expect 0 "$twang" report torn-numbers --quiet

# Resuming writes the record again.
echo "{" >torn/run.json
expect 0 "$twang" resume torn --quiet
expect 0 "$twang" report torn --quiet

# ---- replay ----
# A run is replayed as it is: what only a scene can follow is refused, not ignored.
if ! "$twang" view 2>&1 | grep -q lacks; then
    for option in "--integrator bdf1" "--phi dense" "--dt 0.1" "--rtol 1e-3" "--duration 9" "--set name=x" "--fps 5" "--frames vtu" \
        "--compare bdf1" "--speed max"; do
        name=${option%% *}
        [ "$name" = --speed ] && name=$option
        # shellcheck disable=SC2086
        refused "twang: source: is a finished run, which is replayed as it is; $name is for scenes" \
            timeout 60 "$twang" view source $option --no-browser
    done
fi

# ---- a header that was changed, and a version that would garble the terminal ----
unfinished damaged
cp damaged/checkpoint.bin good.bin
for byte in 12 40 47; do # what no value of the header depends on: reserved bytes, the end of the version
    cp good.bin damaged/checkpoint.bin
    printf 'A' | dd of=damaged/checkpoint.bin bs=1 seek=$byte conv=notrunc status=none
    refused "damaged/checkpoint.bin: is damaged, its checksum does not match" "$twang" resume damaged --quiet
done
cp good.bin damaged/checkpoint.bin
printf '\033[2J' | dd of=damaged/checkpoint.bin bs=1 seek=16 conv=notrunc status=none
"$twang" resume damaged --quiet 2>err && fail "another version was accepted"
grep -q 'was written by twang \\x1b\[2J' err || fail "bytes of the version are printed as they are: $(cat -v err)"

ln -s "$folder/source" link-to-run # a link as the directory itself is the user's choice
expect 0 "$twang" resume link-to-run --quiet

# ---- a finished run is left as it is, and may be read-only ----
find source -printf '%p %s %T@ %C@\n' | sort >before
chmod -R a-w source
expect 0 "$twang" resume source --quiet
chmod -R u+w source
find source -printf '%p %s %T@\n' | sort >after
sed 's/ [^ ]*$//' before | cmp -s - after || fail "resuming a finished run changed it: $(diff before after | head -3)"

# ---- a mesh that was changed ----
cp "$source_tree/tests/meshes/cube.obj" cube.obj 2>/dev/null || cp "$(find "$source_tree/tests/meshes" -name '*.obj' | sort | head -n 1)" cube.obj
cat >mesh.yaml <<'END'
name: mesh
duration: 0.01
integrator: {name: verlet, step: 0.001}
bodies: [{kind: mesh, file: cube.obj, vertices: 60, material: springs, stiffness: 100, mass: 0.1}]
END
expect 0 "$twang" run mesh.yaml -o meshed --quiet
rm meshed/run.json
cp -r meshed changed
expect 0 "$twang" resume meshed --quiet
echo "# changed" >>cube.obj
expect 2 "$twang" resume changed --quiet
grep -q "a file that the scene reads was changed since the run began" err || fail "a changed mesh: $(cat err)"
[ "$(wc -l <err)" -eq 1 ] || fail "more than a line for a changed mesh"

# Every file that a scene reads: roots of fibres, the surface of an obstacle, each mesh of a sequence, both of TetGen.
for number in 1 2 3; do
    printf 'v 0 0 -%d\nv 1 0 -%d\nv 0 1 -%d\nf 1 2 3\n' $number $number $number >floor_0$number.obj
done
cp floor_01.obj floor.obj
cp "$source_tree/tests/meshes/meshio_solid.node" "$source_tree/tests/meshes/meshio_solid.ele" .
printf '0,0,2,0,0,1\n0.1,0,2,0,0,1\n' >roots.csv
cat >files.yaml <<'END'
name: files
duration: 0.003
integrator: {name: verlet, step: 1e-5}
bodies:
  - {kind: fibres, roots: {points: roots.csv}, segments: 2, length: 0.1, thickness: 1e-3, youngs_modulus: 1e5,
     shear_modulus: 4e4, density: 1000}
  - {kind: mesh, file: meshio_solid.node, material: springs, stiffness: 1, mass: 1, origin: [0, 0, 9]}
obstacles:
  - {kind: mesh, file: floor.obj, motion: {kind: sequence, files: floor_##.obj, count: 3}}
contact: {distance: 0.01}
END
expect 0 "$twang" run files.yaml -o files --quiet
rm files/run.json
for name in roots.csv floor.obj floor_01.obj floor_02.obj floor_03.obj meshio_solid.node meshio_solid.ele; do
    rm -rf changed
    cp -r files changed
    cp "$name" kept
    if [ "$name" = roots.csv ]; then echo '0.2,0,2,0,0,1' >>"$name"; else echo '# changed' >>"$name"; fi
    expect 2 "$twang" resume changed --quiet
    grep -q "changed: a file that the scene reads was changed since the run began" err || fail "$name was changed: $(cat err)"
    cp kept "$name"
done
expect 0 "$twang" resume files --quiet

# ---- files that go while the run writes them ----
for gone in telemetry.csv scene.yaml frames; do
    "$twang" run rope --integrator verlet --dt 1e-5 --duration 100 --quiet --set output.checkpoint_every=0.05 -o "gone-$gone" 2>err &
    job=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "gone-$gone/checkpoint.bin" ] && [ -e "gone-$gone/run.json" ] && break; sleep 0.2; done
    rm -r "gone-${gone:?}/$gone"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do kill -0 "$job" 2>/dev/null || break; sleep 0.5; done
    kill -9 "$job" 2>/dev/null && fail "nobody noticed that $gone is gone"
    wait "$job"
    [ $? -eq 1 ] || fail "$gone is gone: exit code, $(cat err)"
    grep -q "gone-$gone/$gone" err || fail "$gone is gone: $(cat err)"
    [ "$gone" != telemetry.csv ] && grep -q 'go on with' err && fail "a run without $gone cannot go on: $(cat err)"
done

# lose NAME FILE [FORMAT]: a run that loses this file after it was written, and ends with code 1 and one line; final.csv is not
# written. The run stands still while the file goes.
lose() {
    "$twang" run rope --integrator verlet --dt 1e-5 --duration 30 --fps 1 --set output.telemetry_every=100 --quiet --threads 1 -o "$1" --frames "${3:-csv}" 2>err &
    job=$!
    while [ ! -e "$1/run.json" ] && kill -0 "$job"; do sleep 0.05; done
    kill -STOP "$job"
    rm "$1/$2"
    kill -CONT "$job"
    wait "$job"
    [ $? -eq 1 ] || fail "$2 is gone: another exit code than 1"
    [ "$(wc -l <err)" -eq 1 ] || fail "$2 is gone: not one line: $(cat err)"
    grep -q '"status": "failed"' "$1/run.json" || fail "$2 is gone, and run.json does not say failed"
    [ -e "$1/final.csv" ] && fail "$2 is gone, and the run has a final.csv"
}
lose lost-frame frames/frame_000000.csv
gap="lost-frame/frames/frame_000000.csv: has been removed, the run cannot be resumed"
[ "$(cat err)" = "$gap" ] || fail "a lost frame: $(cat err)"
refused "$gap" "$twang" resume lost-frame --quiet
# The shapes that a point cache moves, and the cache itself.
lose lost-shape frames/rope.obj pc2
grep -q '^lost-shape/frames/rope.obj: has been removed' err || fail "a lost shape: $(cat err)"
lose lost-cache frames/rope.pc2 pc2
grep -q '^lost-cache/frames/rope.pc2: was removed' err || fail "a lost cache: $(cat err)"
# A manifest can be written again.
lose lost-manifest manifest.txt
grep -q '^lost-manifest/manifest.txt: has been removed .* go on with: twang resume lost-manifest$' err || fail "a lost manifest: $(cat err)"
expect 0 "$twang" resume lost-manifest --quiet
grep -qx 'frames/frame_\*.csv 31' lost-manifest/manifest.txt || fail "a resumed run did not write its manifest again"
grep -q '"status": "done"' lost-manifest/run.json || fail "a resumed run that had lost its manifest is not done"

finish "nobody's files were touched"
