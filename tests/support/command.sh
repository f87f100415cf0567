# shellcheck shell=sh disable=SC2034  # what is set here is for the scripts
# What a script that drives the command begins with: `. "$TWANG_SOURCE/tests/support/command.sh"`. It finds itself in an
# empty folder of its own, which goes when it ends. Complaints are counted; `finish` says how many there were.
set -u
twang=$TWANG_BUILD/twang
source_tree=$TWANG_SOURCE
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# sample ALL FEW: the words of the first, or of the second in checked builds, which look for errors of memory and are ten
# times slower (cmake/sanitizers.cmake)
sample() { if [ "${TWANG_SAMPLE:-}" ]; then echo "$2"; else echo "$1"; fi; }

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect CODE COMMAND...: the exit code; stdout and stderr are left in the files out and err
expect() {
    code=$1
    shift
    "$@" >out 2>err
    got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit $got instead of $code: $(cat err)"
}

# refused MESSAGE COMMAND...: exit code 2, nothing on stdout, this one line on stderr
refused() {
    message=$1
    shift
    expect 2 "$@"
    [ "$(cat err)" = "$message" ] || fail "$*: said '$(cat err)' instead of '$message'"
    [ -s out ] && fail "$*: printed '$(cat out)'"
}

# json EXPRESSION: the value of a Python expression in the object d, which is read from stdin
json() {
    python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"
}

# finish TEXT: ends the script; the text is for when there was no complaint
finish() {
    [ "$failures" -eq 0 ] && echo "$1"
    exit "$failures"
}
