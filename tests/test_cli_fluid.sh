#!/bin/sh
# The bacterium by the command: resumed and on two threads it gives the same bytes, and its energies balance.
. "$TWANG_SOURCE/tests/support/command.sh"
scene=$source_tree/scenes/bacterium.yaml

expect 0 "$twang" check "$scene"
grep -q "360 unknowns" out || fail "check says: $(cat out)"

expect 0 "$twang" run "$scene" -o whole --duration 0.05 --threads 1 --quiet
expect 0 "$twang" run "$scene" -o parts --duration 0.025 --threads 2 --quiet
expect 0 "$twang" resume parts --duration 0.05 --quiet
for file in final.csv telemetry.csv; do
    cmp whole/$file parts/$file || fail "$file of a resumed run differs"
done
diff -r whole/frames parts/frames || fail "frames of a resumed run differ"

# The motor's work is what the fluid took and what the flagellum holds.
balance=$(json "abs(d['outside_work'] - d['damping_work'] - d['energy_end']) < 0.01 * d['outside_work'] and d['damping_work'] > 0" <whole/run.json)
[ "$balance" = True ] || fail "energies do not balance: $(cat whole/run.json)"
head -1 whole/final.csv | grep -qx "x,y,z,vx,vy,vz" || fail "final.csv begins with $(head -1 whole/final.csv)"

# A scheme for accelerations is refused.
expect 2 "$twang" run "$scene" --integrator gautschi -o other
[ "$(wc -l <err)" -eq 1 ] || fail "gautschi: $(cat err)"

# A step that is far too long for a scheme is not trusted: the motor's power does not excuse it.
expect 1 "$twang" run "$scene" --integrator epirk4s3 --dt 0.1 --duration 0.1 -o long --quiet
grep -q "raised the total energy" err || fail "epirk4s3 at 0.1 s: $(cat err)"
finish "the bacterium resumes, balances and refuses"
