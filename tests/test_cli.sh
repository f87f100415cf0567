#!/bin/sh
# The command as its users meet it: exit codes, one line for what is wrong, JSON that is JSON, signals, full disks.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

is_json() {
    python3 -m json.tool "$1" >/dev/null || fail "$1 is no JSON"
}

# ---- help, lists, completion ----
expect 0 "$twang" --help
for verb in run resume check export list completion; do
    expect 0 "$twang" "$verb" --help
    grep -q "twang $verb" out || fail "help of $verb does not show its use"
done
expect 0 "$twang" --version
grep -qx 'twang [0-9]*\.[0-9]*\.[0-9]*' out || fail "version: $(cat out)"
for list in scenes integrators phi; do
    expect 0 "$twang" list "$list"
    expect 0 "$twang" list "$list" --json
    is_json out
done
"$twang" list scenes | grep -q '^rope ' || fail "list scenes does not know rope"
"$twang" list integrators | grep -q '^exprb42 ' || fail "list integrators does not know exprb42"
"$twang" list phi | grep -q '^shift-invert ' || fail "list phi does not know shift-invert"
expect 0 "$twang" completion bash
bash -n out || fail "the bash completion is no bash"
completed=$(bash -c '. ./out; COMP_WORDS=(twang run --integ); COMP_CWORD=2; _twang; echo "${COMPREPLY[*]}"')
[ "$completed" = --integrator ] || fail "bash completes --integ to '$completed'"
completed=$(bash -c '. ./out; COMP_WORDS=(twang run --phi sh); COMP_CWORD=3; _twang; echo "${COMPREPLY[*]}"')
[ "$completed" = shift-invert ] || fail "bash completes --phi sh to '$completed'"
completed=$(bash -c '. ./out; COMP_WORDS=(twang run rope --frames v); COMP_CWORD=4; _twang; echo "${COMPREPLY[*]}"')
[ "$completed" = vtu ] || fail "bash completes --frames v to '$completed'"
mkdir -p folder/of-a-run
completed=$(cd folder && bash -c '. ../out; COMP_WORDS=(twang resume ""); COMP_CWORD=2; _twang; echo "${COMPREPLY[*]}"')
[ "$completed" = of-a-run ] || fail "bash completes resume to '$completed', not to a directory"
for shell in zsh fish; do
    expect 0 "$twang" completion "$shell"
    command -v "$shell" >/dev/null && { "$shell" -n out || fail "the $shell completion is no $shell"; }
done

expect 0 "$twang" --help
for word in "twang list scenes" "twang run rope" "twang export"; do grep -q "^  $word" out || fail "--help does not begin with $word"; done

# ---- the manual page, made from the help ----
manual=$TWANG_BUILD/twang.1
sed -n '/^Verbs$/,/^$/s/^  \([a-z-]*\) .*/\1/p' out >verbs
[ "$(wc -l <verbs)" -ge 6 ] || fail "no verbs in the help"
while read -r verb; do
    grep -q "^\.B twang $(echo "$verb" | sed 's/-/\\\\-/g')\$" "$manual" || fail "the manual page does not know $verb"
done <verbs
if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$manual" || fail "mandoc warns of the manual page"
elif command -v man >/dev/null; then
    [ -z "$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$manual" 2>&1 >/dev/null)" ] || fail "man warns of the manual page"
fi

# ---- documentation that is made from the schema ----
"$TWANG_BUILD/scene_format" | diff - "$source_tree/docs/scene-format.md" || fail "docs/scene-format.md is stale: build/scene_format > docs/scene-format.md"

# ---- wrong use: one line, exit 2 ----
refused "twang: a verb is missing, twang --help shows how to begin" "$twang"
refused "twang: unknown verb 'rnu', did you mean 'run'?" "$twang" rnu
refused "twang: unknown verb 'fly', twang --help lists them" "$twang" fly
refused "twang: unknown option '--verbose', try twang --help" "$twang" --verbose
refused "twang: run has no option '--integrater', did you mean '--integrator'?" "$twang" run rope --integrater rk4
refused "twang: --dt needs a value: --dt S" "$twang" run rope --dt
refused "twang: --quiet takes no value" "$twang" run rope --quiet=yes
refused "twang: run takes one SCENE, and 'more' is one more" "$twang" run rope more
refused "twang: --dt means fixed steps and --rtol adaptive ones, give one of them" "$twang" run rope --dt 1 --rtol 1e-3
refused "twang: --threads 0 is not a whole number from 1 to 1024" "$twang" run rope --threads 0
refused "twang: --set fps is not KEY=VALUE, such as --set bodies.0.stiffness=1e8" "$twang" run rope --set fps
refused "twang: there is no scene 'roep', did you mean 'rope'?" "$twang" run roep
refused "twang: there is no scene 'rop', did you mean 'rope'?" "$twang" run rop
refused "twang: there is no list of 'phis', did you mean 'phi'?" "$twang" list phis
refused "twang: there is no completion for 'csh', only for bash, zsh and fish" "$twang" completion csh
refused "no/such.yaml: cannot be opened: No such file or directory" "$twang" run no/such.yaml
refused "--dt 1ms: integrator.step is '1ms', must be a number > 0 [s]" "$twang" run rope --dt 1ms
refused "--set bodies.0.mass=-1: bodies.0.mass is '-1', must be a number > 0 [kg]" "$twang" run rope --set bodies.0.mass=-1
refused "nothing: holds no run (no scene.yaml in it), name the directory of one" "$twang" resume nothing
[ -e runs ] && fail "something refused left a directory"

# ---- every broken scene: exit 2 and one line that begins with its place ----
cp -r "$source_tree/tests/bad_input" .
for scene in bad_input/*.yaml; do
    expect 2 "$twang" check "$scene"
    [ "$(wc -l <err)" -eq 1 ] || fail "$scene: not one line: $(cat err)"
    grep -Eq "^$scene:[0-9]+:[0-9]+: " err || fail "$scene: no place: $(cat err)"
done

# ---- runs ----
expect 0 "$twang" check rope
expect 0 "$twang" check rope --set "output.frames=[vtu, pc2]"
grep -q "frames .*(vtu, pc2)" out || fail "check does not name both formats: $(cat out)"
expect 0 "$twang" check rope --json
is_json out
expect 0 "$twang" run rope --integrator verlet --dt 1e-3
[ -f runs/rope-1/final.csv ] || fail "no runs/rope-1/final.csv"
expect 0 "$twang" run rope --integrator verlet --dt 1e-3 --quiet
[ -s out ] || [ -s err ] && fail "--quiet said something"
cmp -s runs/rope-1/final.csv runs/rope-2/final.csv || fail "two runs differ"
expect 0 "$twang" run rope --integrator verlet --dt 1e-3 --threads 1 -o one --json
is_json out
cmp -s out one/run.json || fail "--json is not run.json"
cmp -s runs/rope-1/final.csv one/final.csv || fail "the number of threads changes the result"
refused "one: exists already, name another directory or give --force" "$twang" run rope -o one
expect 0 "$twang" run rope --integrator verlet --dt 1e-3 -o one --force
expect 0 "$twang" resume one
expect 0 "$twang" resume one --json
is_json out
grep -q '"resumed_at": null' one/run.json || fail "a finished run was resumed"
expect 1 "$twang" run rope --integrator euler --dt 0.1 --duration 5 -o bad
grep -q 'cannot be trusted' err || fail "the failure does not say why: $(cat err)"
grep -q 'bad/last_good.csv' err || fail "the failure does not say where the last good state is"
grep -q '"status": "failed"' bad/run.json || fail "run.json does not know of the failure"
expect 2 "$twang" run rope --set x=1 --json
is_json out
# steps of T/ceil(T/dt)
"$twang" run rope --integrator verlet --dt 0.0007 --json -o steps | grep -q '"steps": 572' || fail "0.4/0.0007 is not 572 steps"

# ---- signals: after the step, with a checkpoint ----
"$twang" run fput --integrator rk4 --dt 1e-5 -o signalled --quiet 2>err &
job=$!
while [ ! -f signalled/run.json ]; do sleep 0.05; done
sleep 0.3
kill -INT "$job"
wait "$job"
[ $? -eq 130 ] || fail "SIGINT: not exit 130"
grep -q 'twang resume signalled' err || fail "SIGINT: does not say how to go on: $(cat err)"
"$twang" resume signalled --quiet 2>err &
job=$!
while ! grep -q '"resumed_at": [0-9]' signalled/run.json; do sleep 0.05; done
kill -TERM "$job"
wait "$job"
[ $? -eq 143 ] || fail "SIGTERM: not exit 143"

# ---- disks and permissions ----
"$twang" list phi >/dev/full 2>err
[ $? -eq 1 ] || fail "a full stdout: not exit 1"
[ "$(cat err)" = "twang: the output cannot be written: No space left on device" ] || fail "a full stdout: $(cat err)"
(ulimit -f 40; "$twang" run rope --integrator verlet --dt 1e-5 -o limited >out 2>err)
[ $? -eq 1 ] || fail "a full disk: not exit 1"
grep -q '^limited/telemetry.csv: cannot be written: File too large; .* go on with: twang resume limited$' err || fail "a full disk: $(cat err)"
[ "$(wc -l <err)" -eq 1 ] || fail "a full disk: not one line: $(cat err)"
expect 0 "$twang" resume limited --quiet
expect 0 "$twang" run rope --integrator verlet --dt 1e-5 -o unlimited --quiet
cmp -s limited/final.csv unlimited/final.csv || fail "a full disk changed the result"
cmp -s limited/telemetry.csv unlimited/telemetry.csv || fail "a full disk changed the telemetry"
touch file
expect 2 "$twang" run rope -o file/out
[ "$(cat err)" = "file is a file, and not a folder" ] || fail "unwritable: $(cat err)"
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 555 locked
    expect 1 "$twang" run rope -o locked/out
    [ "$(cat err)" = "locked/out: cannot be made: Permission denied" ] || fail "unwritable: $(cat err)"
    chmod 755 locked
fi

# ---- a terminal: progress, colours; none under NO_COLOR, none of both with --quiet ----
on_terminal() { # COMMAND...: what it writes to a terminal of 80 columns, into out
    TERM=xterm script -qec "stty cols 80; $*" /dev/null </dev/null >out 2>&1
}
escape=$(printf '\033')
long="'$twang' run rope --integrator verlet --dt 2e-6 --fps 0 --set output.telemetry_every=0"
if command -v script >/dev/null; then
    on_terminal "$long -o shown"
    grep -q 'rope \[.*\] .* of 0.4 s, .* x real time, .* left, energy error [0-9.]*e[-+][0-9][0-9]' out || fail "no progress on a terminal: $(cat -v out)"
    grep -q "$escape\[32mrope" out || fail "no colours on a terminal"
    on_terminal "NO_COLOR=1 $long -o plain"
    grep -q "$escape\[[0-9;]*m" out && fail "colours under NO_COLOR"
    on_terminal "$long -o silent --quiet"
    [ -s out ] && fail "--quiet says something on a terminal: $(cat -v out)"
    on_terminal "$long -o json --json | python3 -m json.tool >/dev/null && echo fine"
    grep -q '^fine' out || fail "--json on a terminal is no JSON alone: $(cat -v out)"
fi

# ---- no colours but on a terminal ----
for command in "--help" "list integrators" "check rope"; do
    # shellcheck disable=SC2086
    "$twang" $command | grep -q "$(printf '\033')" && fail "twang $command writes escapes into a pipe"
done

finish "all as expected"
