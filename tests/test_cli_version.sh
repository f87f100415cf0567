#!/bin/sh
# twang --version --verbose: every library that is loaded, each with a licence that NOTICE and SPDX know.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"

expect 0 "$twang" --version
grep -Eqx 'twang [0-9]+\.[0-9]+\.[0-9]+' out || fail "the version: $(cat out)"
refused "twang: --version takes nothing but --verbose" "$twang" --version --all

# The list is what the loader says: no more, no less.
expect 0 "$twang" --version --verbose
sed '/^In the page/,$d' out | sed -n 's/^  \([^ ]*\) .*/\1/p' | sort >listed
ldd "$twang" | sed -n 's/^[[:space:]]*\([^ ]*\/\)\{0,1\}\([^ /]*\)\.so[^ ]* .*/\2/p' | grep -v '^linux-vdso$' | sort >loaded
cmp -s listed loaded || fail "listed and loaded libraries differ: $(diff listed loaded)"
[ "$(wc -l <listed)" -ge 8 ] || fail "only $(wc -l <listed) libraries"

# Each has a version and a licence.
grep -q unknown out && fail "no licence: $(grep unknown out)"
sed -n 's/^  //p' out | while read -r name version licence; do
    case $version in [0-9]*) ;; *) echo "$name has no version" ;; esac
    [ -n "$licence" ] || echo "$name has no licence"
done >lacking
[ -s lacking ] && fail "$(cat lacking)"
for name in libcholmod libopenblas libyaml-0 libz; do grep -q "^$name$" listed || fail "$name is not listed"; done

# What the page contains, in the versions that it was built of.
sed '1,/^In the page/d' out >page
for name in three uplot; do
    version=$(json "d['packages']['node_modules/$name']['version']" <"$source_tree/viewer/page/package-lock.json")
    grep -Eq "^  $name +$version +MIT$" page || fail "$name $version is not listed: $(cat page)"
done
[ "$(wc -l <page)" -eq 2 ] || fail "the page contains $(cat page)"

finish "$(wc -l <listed) libraries"
