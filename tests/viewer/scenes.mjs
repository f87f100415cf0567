// What a live page shows of scenes: obstacles, contacts, stains, and files that are dropped on it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { distance, drop, get, hanging, notice, open, serve, telemetry, test, until, work } from "./harness.mjs";

test("shows obstacles of every kind, moving ones and contacts", async () => {
  const scene = path.join(work, "obstacles.yaml");
  fs.writeFileSync(path.join(work, "wedge.obj"), "v -0.1 -0.1 0\nv 0.1 -0.1 0\nv 0.1 0.1 0\nv -0.1 0.1 0\nv 0 0 0.15\nf 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n");
  fs.writeFileSync(scene, `name: obstacles
duration: 2
fps: 20
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 0.002}
bodies:
  - {kind: cloth, columns: 8, rows: 8, width: 0.35, height: 0.35, rotation: [-90, 0, 0], mass: 0.1, stiffness: 500, shear: 100, bending: 1, origin: [-0.17, -0.17, 0.2]}
obstacles:
  - {name: floor, kind: plane, point: [0, 0, 0], normal: [0, 0, 1]}
  - {name: ball, kind: sphere, centre: [0, 0, 0.09], radius: 0.08, motion: {kind: velocity, velocity: [0.1, 0, 0]}}
  - {name: crate, kind: box, centre: [-0.5, 0, 0.11], sides: [0.2, 0.2, 0.2]}
  - {name: pill, kind: capsule, from: [0.4, -0.1, 0.1], to: [0.4, 0.1, 0.1], radius: 0.05}
  - {name: wedge, kind: mesh, file: wedge.obj, origin: [0, 0.6, 0.01]}
contact: {distance: 0.005}
`);
  const server = serve(scene);
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");
  const bodies = await get(page, "page.stage.geometry.bodies.filter((b) => b.fixed).map((b) => ({ name: b.name, first: b.first, drawn: b.triangles.length + b.edges.length + (b.surface ? 1 : 0) }))");
  assert.deepEqual(bodies.map((b) => b.name).sort(), ["ball", "crate", "floor", "pill", "wedge"]);
  for (const body of bodies) assert.ok(body.drawn > 0, `${body.name} has nothing to draw`);
  const ball = bodies.find((b) => b.name === "ball").first;
  const before = await get(page, `[page.frame.t, page.frame.positions[0][${3 * ball}]]`);
  await until(page, `page.frame.t > ${before[0]} + 0.1`);
  const after = await get(page, `[page.frame.t, page.frame.positions[0][${3 * ball}]]`);
  assert.ok(Math.abs(after[1] - before[1] - 0.1 * (after[0] - before[0])) < 1e-5, "the ball does not move as it should");
  await until(page, "page.frame.contacts[0].length > 9 && page.stage.lanes[0].contacts[0].visible");
  await page.keyboard.press("Space");
  await until(page, "page.state.paused && page.frame.contacts[0].length > 0");
  await page.waitForTimeout(300);

  // Contacts lie on the ball or on the floor, and can be hidden.
  const [t, places] = await get(page, "[page.frame.t, Array.from(page.frame.contacts[0])]");
  const centre = [0.1 * t, 0, 0.09];
  assert.ok(places.some((z, i) => i % 3 === 2 && z > 0.1), "nothing touches the ball");
  for (let i = 0; i < places.length; i += 3) {
    const off = Math.abs(distance(places.slice(i, i + 3), centre) - 0.08);
    assert.ok(off < 0.006 || Math.abs(places[i + 2]) < 0.006, `a contact at ${places.slice(i, i + 3)}, ${off} m off the ball`);
  }
  assert.match(await page.locator("label[for=contacts]").getAttribute("title"), /orange points .* surfaces touch/i);
  assert.ok(!(await page.isVisible("#pins")), "nothing is held here");
  await page.click("#contacts");
  await until(page, "!page.stage.lanes[0].contacts[0].visible");
  await page.context().close();
  await server.stop();
});

const sum = (list) => list.reduce((total, value) => total + value, 0);

/** Waits until the picture rests and is drawn finely. */
async function settle(page) {
  await page.waitForTimeout(700);
  await until(page, "page.stage.drawnQuality === 0");
  await page.waitForTimeout(300);
}

/** How many pixels of each of twelve hues the colours of a field bring to a paused page: red is 0, green 4, blue 8. Only
 * strong colours count, and only where the bodies' own colours differ. */
async function paintedHues(page, field) {
  await page.selectOption("#colour", "");
  await settle(page);
  await page.evaluate(() => (window.plain = window.canvasData()));
  await page.selectOption("#colour", field);
  await settle(page);
  return page.evaluate(() => {
    const { data } = window.canvasData();
    const plain = window.plain.data;
    const counts = new Array(12).fill(0);
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
      const change = Math.abs(r - plain[i]) + Math.abs(g - plain[i + 1]) + Math.abs(b - plain[i + 2]);
      const most = Math.max(r, g, b), span = most - Math.min(r, g, b);
      if (data[i + 3] < 200 || span < 90 || change < 60) continue;
      const hue = most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
      counts[Math.floor(2 * hue) % 12]++;
    }
    return counts;
  });
}

test("stains and plastic strain are painted", async () => {
  // Two bristles of the brush rub the ball.
  const brush = serve("brush", "--set", "bodies.0.columns=2", "--set", "bodies.0.rows=1", "--set", "bodies.0.spacing=4e-3", "--dt", "0.01", "--speed", "max");
  const one = await open(await brush.ready);
  await until(one, "page.frames > 3");
  await one.selectOption("#colour", "wear");
  await until(one, "page.frame.values[0] && Math.max(...page.frame.values[0]) > 5", 120000);
  await one.keyboard.press("Space");
  await until(one, "page.state.paused");
  assert.deepEqual(await get(one, "page.stage.geometry.bodies.filter((b) => b.stained).map((b) => b.name)"), ["paperweight"]);
  const stains = await paintedHues(one, "wear");
  assert.ok(stains[7] + stains[8] > 1000, `the clean ball is not blue: ${stains}`);
  assert.ok(sum(stains.slice(0, 7)) > 100, `there are no stains from cyan to red: ${stains}`);
  assert.match(await one.textContent("#legend"), /stain/);
  await one.context().close();
  await brush.stop();

  // A bar of springs that yields under its weight.
  const scene = path.join(work, "plastic.yaml");
  fs.writeFileSync(scene, `name: plastic
duration: 1
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 0.005}
bodies:
  - {kind: box, cells: [6, 2, 2], size: [0.3, 0.05, 0.05], density: 3000, stiffness: 3000, plasticity: {yield_strain: 0.01, hardening: 0.02}}
pins: [{lower: [-0.01, -1, -1], upper: [0.01, 1, 1]}]
forces: [{kind: rayleigh, alpha: 3}]
`);
  const bar = serve(scene);
  const two = await open(await bar.ready);
  await until(two, "page.frames > 3");
  await two.selectOption("#colour", "plastic_strain");
  await until(two, "page.frame.values[0] && Math.max(...page.frame.values[0]) > 0.05");
  await two.keyboard.press("Space");
  await until(two, "page.state.paused");
  const strains = await paintedHues(two, "plastic_strain");
  assert.ok(strains[1] + strains[2] > 500, `the most bent part is not yellow: ${strains}`);
  assert.ok(sum(strains.slice(4, 8)) > 500, `the other parts are not green and blue: ${strains}`);
  assert.ok((await get(two, telemetry("plastic_work"))) > 0, "no plastic work");
  await two.context().close();
  await bar.stop();
});

test("opens a scene and a mesh that are dropped on it", async () => {
  const server = serve("rope");
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");
  await drop(page, "hanging.yaml", fs.readFileSync(hanging, "utf8"));
  await until(page, "page.state.scene === 'hanging'");
  await drop(page, "wrong.yaml", "name: wrong\n");
  await until(page, "page.state.message.includes('wrong.yaml')");

  // A scene that can be read but not built: the message has the line of the user's file.
  await drop(page, "no body.yaml", fs.readFileSync(hanging, "utf8").replace("{body: 0,", "{body: 7,"));
  await until(page, "page.state.message.startsWith('no body.yaml:8:')");
  assert.equal(await get(page, "page.state.scene"), "hanging");
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `v ${i & 1} ${(i >> 1) & 1} ${i >> 2}`);
  const faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"].map((f) => `f ${f}`);
  await drop(page, "My cube.obj", [...corners, ...faces, ""].join("\n"));
  await until(page, "page.state.scene === 'My_cube' && page.frame.particles > 100", 60000);
  assert.equal(await page.textContent("h1"), "My_cube");

  // What is wrong with a mesh is told with its own name, and the mesh before it stays.
  await drop(page, "flat sheet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  await until(page, "page.state.message.includes('encloses nothing')");
  const message = await get(page, "page.state.message");
  assert.ok(message.startsWith("flat sheet.obj:") && !message.includes("/"), message);
  await page.keyboard.press("r");
  await until(page, "page.state.message === '' && page.state.scene === 'My_cube'");
  await page.context().close();
  await server.stop();
});

test("says why a dropped file cannot be opened, and goes on", async () => {
  const server = serve("rope", "--paused");
  const page = await open(await server.ready);
  await until(page, "page.frames > 0");
  await drop(page, "nothing.yaml", "");
  await notice(page, "nothing.yaml: the file is empty");
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(32 * 1024 * 1024 + 1)], "huge.obj"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  });
  await notice(page, "huge.obj: has 32.0 MB, and at most 32 MB");
  assert.equal(await get(page, "page.connected"), true, "the connection is lost");

  // A name is for messages: a long one is cut, and control characters are replaced. The suffix says what the file is.
  const text = fs.readFileSync(hanging, "utf8");
  await drop(page, `${"é".repeat(80)}.yaml`, text);
  await until(page, "page.state.scene === 'hanging'", 8000);
  await drop(page, "two\nlines\u007f.yaml", "name: wrong\n");
  await until(page, "page.state.message.includes('two_lines_.yaml')", 8000);
  await drop(page, "half \ud83d.yaml", text.replace("hanging", "again"));
  await until(page, "page.state.scene === 'again'", 8000);
  await page.context().close();
  await server.stop();

  // Who serves other machines takes no files.
  const listening = serve("rope", "--paused", "--listen", "127.0.0.1");
  const guest = await open(await listening.ready);
  await until(guest, "page.frames > 0");
  await drop(guest, "hanging.yaml", text);
  await notice(guest, "hanging.yaml: a page that is served by --listen opens no files");
  assert.equal(await get(guest, "page.connected"), true, "the connection is lost");
  await guest.context().close();
  await listening.stop();
});

test("a dropped mesh of two pieces stands on both", async () => {
  const server = serve("rope", "--paused");
  const page = await open(await server.ready);
  await until(page, "page.frames > 0");

  // Two cubes, one beside the other and higher.
  const corners = [[0, 0], [3, 1]].flatMap(([x, z]) => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `v ${(i & 1) + x} ${(i >> 1) & 1} ${(i >> 2) + z}`));
  const sides = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]];
  const faces = [0, 8].flatMap((first) => sides.map((side) => `f ${side.map((v) => v + first).join(" ")}`));
  await drop(page, "two cubes.obj", [...corners, ...faces, ""].join("\n"));
  await until(page, "page.state.scene === 'two_cubes' && page.frame.particles > 100");
  const held = await get(page, "(({ pinned, rest }) => [0, 1].map((right) => Array.from(pinned).filter((p) => (rest[3 * p] > 0.7 ? 1 : 0) === right).length))(page.stage.geometry)");
  assert.ok(held[0] > 3 && held[1] > 3, `held particles of both cubes: ${held}`);
  await page.context().close();
  await server.stop();
});
