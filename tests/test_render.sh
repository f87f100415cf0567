#!/bin/sh
# The renderer: a picture that is a PNG, shows the body, is the same every time, and refusals in one line.
# shellcheck source=tests/support/command.sh
. "$TWANG_SOURCE/tests/support/command.sh"
render=$TWANG_BUILD/render_run

# Sizes of a PNG, and the share of its pixels that are coloured (saturated), which paper and shadow are not.
look() {
    python3 - "$1" <<'END'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack_from(">I4s", data, at)
    body = data[at + 8:at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack_from(">I", data, at + 8 + size)[0]
    if kind == b"IHDR":
        width, height = struct.unpack_from(">2I", body)
    packed += body if kind == b"IDAT" else b""
    at += 12 + size
raw, row, rows = zlib.decompress(packed), 3 * width, [bytes(3 * width)]
for y in range(height):
    kind, line = raw[y * (row + 1)], bytearray(raw[y * (row + 1) + 1:(y + 1) * (row + 1)])
    for i in range(row):
        line[i] = (line[i] + (rows[-1][i] if kind == 2 else line[i - 3] if i >= 3 else 0)) % 256
    rows.append(bytes(line))
coloured = sum(max(r[i:i + 3]) - min(r[i:i + 3]) > 60 for r in rows[1:] for i in range(0, row, 3))
print(width, height, 100 * coloured // (width * height))
END
}

"$twang" run coil --duration 0.4 --fps 10 --integrator verlet --dt 1e-4 --set bodies.0.sections=60 --set bodies.0.turns=1 --quiet -o coil
"$twang" run rope --integrator verlet --dt 1e-3 --fps 10 --quiet -o rope
"$render" coil -o coil.png --samples 2 --size 90x80 --sheet 2x1 || fail "the coil is not drawn"
# shellcheck disable=SC2046  # three numbers
set -- $(look coil.png)
[ "$1 $2" = "184 80" ] || fail "the sheet is $1 x $2"
{ [ "$3" -ge 5 ] && [ "$3" -le 60 ]; } || fail "$3 % of the picture are coloured"
"$render" coil -o again.png --samples 2 --size 90x80 --sheet 2x1
OMP_NUM_THREADS=1 "$render" coil -o single.png --samples 2 --size 90x80 --sheet 2x1
cmp coil.png again.png || fail "two pictures differ"
cmp coil.png single.png || fail "the number of threads changes the picture"
"$render" rope -o series --every 2 --samples 1 --size 60x50 || fail "no series"
[ "$(echo series/*)" = "series/picture_000000.png series/picture_000001.png series/picture_000002.png" ] || fail "series: $(echo series/*)"

"$render" 2>err
[ $? -eq 2 ] || fail "wrong use: not exit 2"
"$render" nothing -o x.png 2>err
[ $? -eq 1 ] || fail "no run: not exit 1"
[ "$(cat err)" = "nothing: holds no run (no scene.yaml in it), name the directory of one" ] || fail "no run: $(cat err)"
"$render" rope -o no/such/place.png --samples 1 --size 20x20 2>err
[ "$(cat err)" = "no/such/place.png: cannot be written: No such file or directory" ] || fail "unwritable: $(cat err)"
"$render" rope -o x.png --size 20x20x 2>err && fail "a wrong size is accepted"

finish "all as expected"
