// A live page: pictures, hands, time, sliders, integrators.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { TIP, complaints, distance, get, hanging, open, pixels, scrub, serve, telemetry, test, tip, until, work } from "./harness.mjs";

test("shows a picture that moves, and says nothing on the console", async () => {
  const server = serve("rope");
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");

  // Frames have come; the browser draws them when it next paints.
  let first = await pixels(page);
  for (let look = 0; look < 50 && first.left + first.right === 0; look++) {
    await page.waitForTimeout(100);
    first = await pixels(page);
  }
  assert.ok(first.left + first.right > 300, `only ${first.left + first.right} pixels are drawn`);
  await until(page, `page.frame.t > ${await get(page, "page.frame.t")} + 0.2`);
  await page.waitForTimeout(100);
  const second = await pixels(page);
  assert.notEqual(first.sum, second.sum, "the picture does not change");
  assert.deepEqual(complaints, []);
  await page.context().close();
  assert.equal(await server.stop(), 0);
});

test("fibres are drawn, and all of them is in the view", async () => {
  const reed = path.join(work, "reed.yaml");
  fs.writeFileSync(reed, `name: reed
duration: 1
integrator: {name: expmid2, step: 0.005}
bodies:
  - {kind: fibres, columns: 3, rows: 3, spacing: 0.05, length: 0.4, thickness: 0.004, youngs_modulus: 1e9, shear_modulus: 3e8, density: 1200, origin: [-1, 0, 0]}
`);
  const server = serve(reed, "--paused");
  const page = await open(await server.ready);
  await until(page, "page.frames > 0");
  await page.waitForTimeout(1000); // the layout has settled, and the picture is drawn
  const inside = await get(page, `(() => {
    const box = document.getElementById("canvas").getBoundingClientRect();
    const places = Array.from({ length: page.frame.particles }, (_, p) => page.locate(p));
    return places.every(({ x, y }) => x > box.left && x < box.right && y > box.top && y < box.bottom);
  })()`);
  assert.ok(inside, "some particles are outside of the view");
  const blue = await page.evaluate(() => {
    const { data } = window.canvasData();
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i + 2] > data[i] + 40) count++;
    return (100 * count * 4) / data.length;
  });
  assert.ok(blue > 0.5, `fibres fill ${blue} % of the picture`);
  await page.context().close();
  await server.stop();
});

test("a dragged particle follows and springs back", async () => {
  const server = serve(hanging);
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");
  const rest = await tip(page);
  await page.waitForTimeout(500); // the layout has settled
  const at = await get(page, `page.locate(${TIP})`);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 60, at.y - 30, { steps: 6 });
  assert.equal(await get(page, "page.drag.particle"), TIP);
  const target = await get(page, "[page.drag.target.x, page.drag.target.y, page.drag.target.z]");
  await until(page, `Math.hypot(page.frame.positions[0][${3 * TIP}] - (${rest[0]}), page.frame.positions[0][${3 * TIP + 1}] - (${rest[1]}), page.frame.positions[0][${3 * TIP + 2}] - (${rest[2]})) > 0.05`);
  await page.waitForTimeout(800);
  assert.ok(distance(await tip(page), target) < 0.8 * distance(rest, target), "the particle does not follow the hand");
  const work = await get(page, telemetry("outside_work"));
  assert.ok(Math.abs(work) > 0, "the hand does no work");
  await page.mouse.up();
  await page.selectOption("#speed", "8");
  await until(page, `page.state.pulled === -1 && Math.hypot(page.frame.positions[0][${3 * TIP}] - (${rest[0]}), page.frame.positions[0][${3 * TIP + 1}] - (${rest[1]})) < 0.02`);
  await page.context().close();
  await server.stop();
});

test("pauses, steps, resets, changes speed", async () => {
  const server = serve(hanging);
  const page = await open(await server.ready);
  await until(page, "page.frame && page.frame.t > 0.1");
  await page.keyboard.press("Space");
  await until(page, "page.state.paused");
  await page.waitForTimeout(300);
  const paused = await get(page, "page.frame.t");
  await page.waitForTimeout(400);
  assert.equal(await get(page, "page.frame.t"), paused, "time goes on while it is paused");
  await page.keyboard.press(".");
  await until(page, `page.frame.t > ${paused}`);
  const once = await get(page, "page.frame.t");
  await page.keyboard.press(".");
  await until(page, `page.frame.t > ${once}`);
  assert.ok(Math.abs((await get(page, "page.frame.t")) - once - 0.005) < 1e-9, "a step is not a step");
  await page.keyboard.press("r");
  await until(page, "page.frame.t === 0");
  assert.equal(await get(page, "page.state.paused"), true);
  await page.selectOption("#speed", String(1 / 32));
  await page.keyboard.press("Space");
  await until(page, "!page.state.paused && page.state.speed === 1/32 && page.frame.t > 0");

  // Simulated seconds per second, as the page sees them come. A busy machine makes them fewer, not more.
  const pace = async (speed) => {
    await page.selectOption("#speed", String(speed));
    await until(page, `page.state.speed === ${speed}`);
    const before = await get(page, "[page.frame.t, performance.now() / 1000]");
    await page.waitForTimeout(1200);
    const after = await get(page, "[page.frame.t, performance.now() / 1000]");
    return (after[0] - before[0]) / (after[1] - before[1]);
  };
  const slow = await pace(1 / 32);
  assert.ok(slow < 0.1, `at 1/32 it simulates ${slow} s in a second`);
  const fast = await pace(8);
  assert.ok(fast > 8 * slow, `at 8 it simulates ${fast} s in a second, at 1/32 ${slow} s`);
  await page.context().close();
  await server.stop();
});

test("sliders and integrators change the running simulation", async () => {
  const server = serve(hanging);
  const page = await open(await server.ready);
  await until(page, "page.frame && page.frame.t > 0.1");
  const before = await get(page, "page.frame.t");
  const move = async (id, key, times, condition) => {
    await page.focus(`#${id}`);
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
    await until(page, condition);
  };
  // The softest comes last: what is stretched by it and then made stiff snaps back, and steps may fail, as they should.
  await move("stiffness", "End", 1, "Math.abs(page.state.stiffness - 1e5) < 1");
  await move("stiffness", "Home", 1, "Math.abs(page.state.stiffness - 1e-5) < 1e-9");
  await until(page, `page.frame.positions[0][${3 * TIP + 2}] < -1.2`); // so soft a rope falls
  await move("damping", "End", 1, "page.state.damping === 1000");
  await until(page, `${telemetry("kinetic")} < 0.01`); // and as in honey with so much damping
  await move("step", "ArrowLeft", 4, "Math.abs(page.state.lanes[0].step - 0.005) > 1e-4");
  await until(page, `Math.abs(${telemetry("step")} / page.state.lanes[0].step - 1) < 0.01`);
  for (const name of ["expmid2", "bdf2", "generalized-alpha", "midpoint"]) {
    await page.selectOption("#integrator", name);
    await until(page, `page.state.lanes[0].integrator === "${name}"`);
    const t = await get(page, "page.frame.t");
    await until(page, `page.frame.t > ${t}`);
  }
  await move("tolerance", "End", 1, "page.state.lanes[0].tolerance === 0.1");
  await until(page, `${telemetry("error_estimate")} > 0`);
  assert.ok((await get(page, "page.frame.t")) > before, "time began anew");
  assert.equal(await get(page, "page.state.lanes[0].failure"), null);
  await page.context().close();
  await server.stop();
});

test("goes back into the past and starts there", async () => {
  const server = serve("rope", "--speed", "2");
  const page = await open(await server.ready);
  await until(page, "page.frame && page.frame.t > 1");
  const sought = await scrub(page, 0.5);
  await until(page, "page.frame.past && page.state.paused");
  const past = await get(page, "page.frame.t");
  const then = await get(page, "Array.from(page.frame.positions[0])");
  assert.ok(sought > 0.3 && Math.abs(past - sought) < 0.1, `the past at ${past} s is shown, not at ${sought} s`);
  await page.click("#here");
  await until(page, "!page.frame.past");
  assert.equal(await get(page, "page.frame.t"), past);
  assert.deepEqual(await get(page, "Array.from(page.frame.positions[0])"), then, "another state than the one shown");
  assert.ok((await get(page, "page.frame.historyTo")) <= past);
  await page.keyboard.press("Space");
  await until(page, `page.frame.t > ${past}`);
  await page.context().close();
  await server.stop();
});

test("the energy does not jump where another start is made", async () => {
  // At the ends of its steps expmid2 leaves strain without meaning in the stiff rope: tens of joules after 4 s.
  const scene = path.join(work, "stiff.yaml");
  fs.writeFileSync(scene, `name: stiff
duration: 20
gravity: [0, 0, -9.81]
integrator: {name: expmid2, step: 0.01}
bodies: [{kind: rope, count: 14, length: 0.06, mass: 0.02, stiffness: 1e5}]
pins: [{body: 0, from: 0}]
`);
  const server = serve(scene, "--speed", "max");
  const page = await open(await server.ready);
  await until(page, "page.frame && page.frame.t > 4");
  await page.keyboard.press("Space");
  await until(page, "page.state.paused");
  await page.waitForTimeout(300);
  const total = () => get(page, telemetry("total"));
  const step = async () => {
    const { t, frames } = await get(page, "({ t: page.frame.t, frames: page.frames })");
    await page.keyboard.press(".");
    await until(page, `page.frames > ${frames} && page.frame.t > ${t}`);
    return total();
  };

  const shown = await step();
  await scrub(page, 1);
  await until(page, "page.frame.past");
  await page.click("#here");
  await until(page, "!page.frame.past");
  const here = await total();
  assert.ok(Math.abs(here - shown) < 1e-9, `${shown} J were shown, and it starts with ${here} J`);
  const next = await step();
  assert.ok(Math.abs(next - here) < 0.1, `it starts with ${here} J, and goes on with ${next} J`);

  // Other integrators go on from there, too.
  for (const name of ["midpoint", "bdf1"]) {
    const before = await total();
    await page.selectOption("#integrator", name);
    await until(page, `page.state.lanes[0].integrator === "${name}"`);
    const after = await step();
    assert.ok(Math.abs(after - before) < 0.5, `${before} J become ${after} J by ${name}`);
  }
  await page.context().close();
  await server.stop();
});

test("two tabs show the same simulation", async () => {
  const server = serve("rope");
  const url = await server.ready;
  const [one, two] = [await open(url), await open(url)];
  await until(one, "page.frames > 3");
  await until(two, "page.frames > 3");
  await one.keyboard.press("Space");
  await until(two, "page.state.paused");
  await two.waitForTimeout(300);
  assert.equal(await get(one, "page.frame.t"), await get(two, "page.frame.t"));
  await one.context().close();
  await two.context().close();
  await server.stop();
});

test("comes back when the server does", async () => {
  const first = serve("rope");
  const url = await first.ready;
  const page = await open(url);
  await until(page, "page.frames > 3");
  await first.stop();
  await until(page, "!page.connected");
  const frames = await get(page, "page.frames");
  const second = serve(hanging, "--port", new URL(url).port);
  await second.ready;
  await until(page, `page.connected && page.frames > ${frames} + 3 && page.state.scene === "hanging"`);
  await page.context().close();
  await second.stop();
});

/** How many pixels of the right half differ from those of the left. */
const differentHalves = (page) => page.evaluate(() => {
  const { data, width, height } = window.canvasData();
  const half = Math.floor(width / 2);
  let count = 0;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < half; x++) {
      const at = 4 * (y * width + x);
      if (Math.abs(data[at + 3] - data[at + 4 * half + 3]) > 100) count++;
    }
  return count;
});

test("two integrators side by side", async () => {
  const server = serve("rope", "--set", "bodies.0.count=1", "--integrator", "expmid2", "--dt", "0.01", "--speed", "4");
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");
  await page.selectOption("#compare", "bdf1");
  await until(page, "page.frame.lanes === 2 && page.state.lanes[1].integrator === 'bdf1'");
  const t = await get(page, "page.frame.t");
  await until(page, `page.frame.t > ${t} + 4`, 60000);
  const picture = await pixels(page);
  assert.ok(picture.left > 30 && picture.right > 30, `one half is empty: ${JSON.stringify(picture)}`);
  const canvas = await page.locator("#canvas").boundingBox();
  for (const lane of [0, 1]) {
    const end = await get(page, `page.locate(1, ${lane})`);
    const x = (end.x - canvas.x) / (canvas.width / 2) - lane;
    const y = (end.y - canvas.y) / canvas.height;
    assert.ok(x > 0 && x < 1 && y > 0 && y < 1, `the link has left its half: lane ${lane}, at ${x}, ${y}, ${await get(page, "Array.from(page.frame.positions[0]).concat([page.stage.camera.aspect, page.stage.size])")}`);
  }
  const at = await get(page, "page.state.telemetry.indexOf('energy_error')");
  const errors = await get(page, `page.frame.telemetry.map((n) => n[${at}])`);
  assert.ok(errors[1] < -0.005, `bdf1 has lost ${errors[1]} J only`);
  assert.ok(Math.abs(errors[0]) < 0.05 * Math.abs(errors[1]), `expmid2 has lost ${errors[0]} J`);
  assert.equal(await page.locator("#labels span").count(), 2);
  let different = 0;
  for (let look = 0; look < 50 && different < 50; look++) {
    await page.waitForTimeout(100);
    different = await differentHalves(page);
  }
  assert.ok(different >= 50, `both halves show the same but for ${different} pixels`);
  await page.selectOption("#compare", "");
  await until(page, "page.frame.lanes === 1");
  await page.context().close();
  await server.stop();
});

test("a failed step pauses, says why, and is not the end", async () => {
  const server = serve("rope", "--set", "bodies.0.stiffness=1e8", "--integrator", "expmid2", "--dt", "0.01");
  const page = await open(await server.ready);
  await until(page, "page.frame && page.frame.t > 0.05");
  await page.selectOption("#integrator", "rk4");
  await until(page, "page.state.lanes[0].failure");
  assert.equal(await get(page, "page.state.paused"), true);
  assert.ok((await get(page, "page.state.lanes[0].failure.particle")) > 0, "no particle is marked");
  assert.ok(await get(page, "page.stage.lanes[0].mark.visible"), "the mark is not drawn");
  assert.match(await page.textContent("#notice"), /step failed: .+/);
  const reason = await page.textContent("#notice");

  // A second integrator beside it takes away neither the reason nor the past.
  await page.selectOption("#compare", "bdf1");
  await until(page, "page.frame.lanes === 2 && page.state.lanes.length === 2");
  assert.equal(await page.textContent("#notice"), reason);
  assert.ok((await get(page, "page.frame.historyTo - page.frame.historyFrom")) > 0.03, "the past is gone");
  await scrub(page, 0);
  await until(page, "page.frame.past && page.frame.lanes === 2");
  assert.equal(await page.isEnabled("#here"), true);
  assert.deepEqual(...(await get(page, "page.frame.positions.map((list) => Array.from(list))")), "another past than that of the first");
  await page.selectOption("#compare", "");
  await until(page, "page.frame.lanes === 1");
  assert.equal(await page.textContent("#notice"), reason);

  const t = await get(page, "page.frame.t");
  // The integrator that can: others may fail on so stiff a rope at this step, depending on how fast it moves.
  await page.selectOption("#integrator", "expmid2");
  await page.click("#play");
  await until(page, `!page.state.lanes[0].failure && page.frame.t > ${t} + 0.05`);
  await page.context().close();
  await server.stop();
});
