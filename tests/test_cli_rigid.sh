#!/bin/sh
# A plastic box with rigid global motion by the command: resumed and on two threads it gives the same bytes, the wall gets
# what the box loses, ply frames show the strain, and bad input is named with its place.
. "$TWANG_SOURCE/tests/support/command.sh"

cat >box.yaml <<'END'
name: box
duration: 0.25
fps: 8
integrator: {name: exprb42, step: 0.0009765625}   # a power of two, so that parts of the run end where its steps end
bodies:
  - {kind: box, size: [0.6, 0.4, 0.2], cells: [3, 2, 1], stiffness: 2e3, mass: 0.1, velocity: [1, 0.2, 0], spin: [0, 0, 2],
     motion: rigid, plasticity: {yield_strain: 0.005}}
obstacles: [{kind: plane, point: [0.65, 0, 0], normal: [-1, 0, 0], size: 1}]
contact: {distance: 0.02, friction: 0.3, restitution: 0.5}
output: {frames: [csv, ply]}
END
expect 0 "$twang" run box.yaml -o whole --threads 1 --quiet
expect 0 "$twang" run box.yaml -o parts --duration 0.125 --threads 2 --quiet
expect 0 "$twang" resume parts --duration 0.25 --quiet
for file in final.csv telemetry.csv; do
    cmp whole/$file parts/$file || fail "$file of a resumed run differs"
done
diff -r whole/frames parts/frames || fail "frames of a resumed run differ"

# Momentum plus impulse is constant, the energies balance, and the ply frame has the strains of the csv frame.
python3 - >told <<'END' || fail "$(cat told)"
import csv, json, struct, sys
rows = list(csv.DictReader(open("whole/telemetry.csv")))
for k in "xyz":
    sums = [float(r["momentum_" + k]) + float(r["contact_impulse_" + k]) for r in rows]
    if max(sums) - min(sums) > 1e-11: sys.exit(print(f"momentum and impulse along {k}: {min(sums)} to {max(sums)}") or 1)
impulse = float(rows[-1]["contact_impulse_x"])
run = json.load(open("whole/run.json"))
if impulse < 1 or run["energy_drift_max"] > 0.01 or not run["plastic_work"] > 0:
    sys.exit(print(impulse, run["energy_drift_max"], run["plastic_work"]) or 1)
header, body = open("whole/frames/frame_000002.ply", "rb").read().split(b"end_header\n", 1)
if b"property float strain\nproperty float plastic_strain\n" not in header: sys.exit(print(header) or 1)
table = list(csv.DictReader(open("whole/frames/frame_000002.csv")))
for i in range(int(header.split(b"element vertex ")[1].split()[0])):
    *_, particle, strain, flowed = struct.unpack_from("<fffiff", body, 24 * i)
    row = table[particle]
    if max(abs(strain - float(row["strain"])), abs(flowed - float(row["plastic_strain"]))) > 1e-6:
        sys.exit(print("vertex", i, strain, flowed, row) or 1)
END

# What does not go with it.
sed 's/^obstacles:/  - {kind: rope, mass: 1, stiffness: 1, origin: [0, 0, 3]}\n&/' box.yaml >two.yaml
expect 2 "$twang" check two.yaml
grep -q "two.yaml:6:5: bodies.0.motion is 'rigid'" err || fail "two bodies: $(cat err)"
sed 's/kind: plane, point: .*size: 1/kind: sphere, centre: [2, 0, 0], radius: 1/' box.yaml >ball.yaml
expect 2 "$twang" check ball.yaml
grep -q "touches planes only" err || fail "a ball: $(cat err)"
expect 2 "$twang" run box.yaml --integrator gautschi -o other
[ "$(wc -l <err)" -eq 1 ] || fail "gautschi: $(cat err)"
finish "rigid motion resumes, balances and refuses"
