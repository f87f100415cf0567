// What everybody can use: contrast, phones, keyboards, slow machines.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { TIP, get, hanging, notice, open, serve, source, test, tip, until } from "./harness.mjs";

/** Contrast of two CSS colours as WCAG 2 defines it. */
function contrast(a, b) {
  const light = (colour) => {
    const [r, g, v] = colour.match(/[0-9.]+/g).slice(0, 3).map((x) => Number(x) / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * v;
  };
  const [bright, dim] = [light(a), light(b)].sort((x, y) => y - x);
  return (bright + 0.05) / (dim + 0.05);
}

test("texts are readable in both themes", async () => {
  const server = serve(hanging, "--paused");
  const page = await open(await server.ready);
  await until(page, "page.frames > 0");
  const seen = [];
  for (const theme of ["dark", "light"]) {
    if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== theme) await page.keyboard.press("t");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
    await page.waitForTimeout(250); // colours change smoothly
    const pairs = await page.evaluate(() => [...document.querySelectorAll("#head *, #panel *, #transport *, #help *")]
      .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && e.checkVisibility() && !e.disabled && e.tagName !== "OPTION")
      .map((e) => {
        let behind = e;
        while (behind && /, 0\)|transparent/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
        return [e.textContent.trim().slice(0, 20), getComputedStyle(e).color, getComputedStyle(behind ?? document.body).backgroundColor];
      }));
    assert.ok(pairs.length > 25, `only ${pairs.length} texts are looked at`);
    for (const [text, colour, behind] of pairs)
      assert.ok(contrast(colour, behind) >= 4.5, `${theme}: "${text}" has a contrast of ${contrast(colour, behind).toFixed(2)}`);
    seen.push(pairs[0][2]);
  }
  assert.notEqual(seen[0], seen[1], "both themes are the same");
  await page.context().close();
  await server.stop();
});

test("fits a phone", async () => {
  // A long name, and a rope so stiff that rk4 fails.
  const server = serve("rope", "--set", "name=a-rope-with-quite-a-long-name-for-a-phone", "--set", "bodies.0.stiffness=1e8", "--integrator", "expmid2", "--dt", "0.01");
  const page = await open(await server.ready, { viewport: { width: 375, height: 720 }, hasTouch: true, isMobile: true });
  await until(page, "page.frames > 3");
  const [wide, canvas, panel] = await page.evaluate(() => [document.documentElement.scrollWidth,
    document.getElementById("canvas").getBoundingClientRect().toJSON(), document.getElementById("panel").getBoundingClientRect().toJSON()]);
  assert.ok(wide <= 375, `the page is ${wide} pixels wide`);
  assert.ok(canvas.width >= 370 && canvas.height > 180, "the stage is too small");
  assert.ok(panel.top >= canvas.bottom - 1, "the panel covers the stage");
  for (const id of ["play", "time", "speed"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 376 && box.y + box.height <= 721, `#${id} is not on the screen`);
  }
  const head = await page.locator("#head").boundingBox();
  assert.ok(head.height < 72, `the head takes ${head.height} pixels`);
  await page.touchscreen.tap(...Object.values(await page.locator("#play").boundingBox()).slice(0, 2).map((v) => v + 8));
  await until(page, "page.state.paused");

  // The reason of a failure stands below the stage, and does not cover it.
  await page.selectOption("#integrator", "rk4");
  await page.locator("#play").tap();
  await until(page, "page.state.lanes[0].failure && page.stage.lanes[0].mark.visible");
  await page.waitForTimeout(300);
  const [stage, notice, play] = await page.evaluate(() => ["canvas", "notice", "play"].map((id) => document.getElementById(id).getBoundingClientRect().toJSON()));
  assert.ok(notice.height > 30 && notice.top >= stage.bottom - 1 && notice.bottom <= play.top, "the reason covers something");
  assert.ok(notice.left >= 0 && notice.right <= 375 && stage.height > 180, "the stage is too small beside the reason");
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 375, "the page has become wider");

  // The help begins at its top.
  await page.keyboard.press("?");
  assert.equal(await page.evaluate(() => document.getElementById("help").scrollTop), 0);
  await page.context().close();
  await server.stop();
});

/** In the page: notes when the pixels of the first frame can be read [ms]. */
function defineFirstPixels() {
  const look = () => {
    if (!(window.twang?.stage.firstDrawn > 0)) return requestAnimationFrame(look);
    window.canvasData(); // waits until they are drawn
    window.firstPixels = performance.now();
  };
  look();
}

test("is small, and soon there", async () => {
  const dist = path.join(source, "viewer/page/dist");
  const bytes = fs.readdirSync(dist).reduce((sum, name) => sum + gzipSync(fs.readFileSync(path.join(dist, name))).length, 0);
  assert.ok(bytes < 400e3, `the page has ${bytes} bytes compressed`);

  // From the opening of the page to the pixels of the first frame. Its time is judged where TWANG_OPENINGS asks for it, as a
  // busy machine has no clock; the causes are always: few shaders are compiled for it, and no plots are made.
  const server = serve("rope");
  const url = await server.ready;
  const wanted = Number(process.env.TWANG_OPENINGS ?? 0);
  const clocks = [];
  while (clocks.length < Math.max(wanted, 1)) {
    const page = await open("about:blank");
    await page.addInitScript(defineFirstPixels);
    await page.goto(url);
    await until(page, "window.firstPixels > 0 && performance.getEntriesByName('plots').length > 0");
    clocks.push(await get(page, "window.firstPixels"));
    const [first, plots] = await get(page, "['first frame', 'plots'].map((name) => performance.getEntriesByName(name)[0]).map(({ startTime, detail }) => ({ startTime, detail }))");
    assert.ok(first.detail <= 3, `the first frame needs ${first.detail} shaders`);
    assert.ok(first.startTime < plots.startTime, "plots are made before the first frame");
    await page.context().close();
  }
  console.log(`        ${(bytes / 1e3).toFixed(0)} kB compressed; first frame after ${clocks.map((t) => t.toFixed(0)).join(", ")} ms, at a load of ${os.loadavg()[0].toFixed(1)}`);
  const middle = clocks.sort((x, y) => x - y)[Math.floor(clocks.length / 2)];
  assert.ok(wanted === 0 || middle < 1000, `half of the first frames come after ${middle} ms or later`);
  await server.stop();
});

test("the keyboard alone reaches everything", async () => {
  const server = serve(hanging);
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");
  const reached = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.textContent));
  }
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, #canvas")].filter((e) => e.checkVisibility() && !e.disabled).map((e) => e.id || e.textContent));
  assert.deepEqual(wanted.filter((id) => !reached.has(id)), []);
  assert.deepEqual(await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, #canvas")].filter((e) => !(e.ariaLabel || e.labels?.length || e.getAttribute("aria-label"))).map((e) => e.id)), []);

  const rest = await tip(page);
  await page.focus("#canvas");
  await page.keyboard.press("p");
  await until(page, "page.drag.particle >= 0");
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight");
  await until(page, `Math.hypot(page.frame.positions[0][${3 * TIP}] - (${rest[0]}), page.frame.positions[0][${3 * TIP + 1}] - (${rest[1]})) > 0.01`);
  await page.keyboard.press("Escape");
  await until(page, "page.drag.particle === -1 && page.state.pulled === -1");

  // Every key that moves the view: what it does to the camera and to the point that it looks at.
  const view = () => get(page, "[page.stage.camera.position, page.stage.controls.target].map(({ x, y, z }) => [x, y, z])");
  const far = ([eye, target]) => Math.hypot(...eye.map((v, k) => v - target[k]));
  const look = async (key) => {
    const before = await view();
    await page.keyboard.press(key);
    return [before, await view()];
  };
  const differs = (a, b) => Math.hypot(...a.map((v, k) => v - b[k])) > 1e-6;
  for (const key of ["ArrowRight", "ArrowUp"]) {
    const [before, after] = await look(key);
    assert.ok(differs(before[0], after[0]) && !differs(before[1], after[1]), `${key} does not turn the view`);
    const [still, moved] = await look(`Shift+${key}`);
    assert.ok(differs(still[1], moved[1]), `Shift and ${key} do not move the view`);
  }
  const [wide, near] = await look("+");
  assert.ok(far(near) < 0.95 * far(wide), "+ does not come nearer");
  const [close, away] = await look("-");
  assert.ok(far(away) > 1.05 * far(close), "- does not go farther");
  const [off, framed] = await look("f");
  assert.ok(differs(off[1], framed[1]), "F does not look at everything");

  // Time.
  await page.keyboard.press("[");
  await until(page, "page.state.speed === 0.5");
  await page.keyboard.press("]");
  await until(page, "page.state.speed === 1");
  await page.keyboard.press("Space");
  await until(page, "page.state.paused");
  await page.waitForTimeout(200);
  const { t } = await get(page, "({ t: page.frame.t })");
  await page.keyboard.press(".");
  await until(page, `page.frame.t > ${t}`);
  await page.keyboard.press("r");
  await until(page, "page.frame.t === 0");

  // The page itself.
  await page.keyboard.press("w");
  assert.ok(await page.isChecked("#wire"));
  await page.keyboard.press("h");
  assert.ok(!(await page.isVisible("#panel")));
  await page.keyboard.press("h");
  assert.ok(await page.isVisible("#panel"));
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press("t");
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), theme);
  await page.keyboard.press("?");
  assert.ok(await page.isVisible("#help"));
  assert.match(await page.textContent("#help"), /gold ball.*held.*orange point.*touch/);
  await page.keyboard.press("Escape");
  assert.ok(!(await page.isVisible("#help")));
  await page.context().close();
  await server.stop();
});

test("Space pauses whatever has the focus", async () => {
  const server = serve(hanging);
  const page = await open(await server.ready);
  await until(page, "page.frames > 3");

  // The held end of the rope is gold, as the panel says.
  assert.ok(await page.isVisible("#pins"), "nothing says what gold is");
  assert.match(await page.textContent("#pins"), /held in place/);
  await page.waitForTimeout(500);
  const gold = await page.evaluate(() => {
    const { data, width, height } = window.canvasData();
    const canvas = document.getElementById("canvas");
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] > 150 && data[i] > data[i + 2] + 80) count++;
    return (count * canvas.clientWidth * canvas.clientHeight) / (width * height); // slow browsers draw coarser pixels
  });
  assert.ok(gold > 20, `only ${gold} pixels are gold`);

  // Every control keeps what it says, and no button is pressed.
  const controls = "#canvas, #colour, #wire, #contacts, #integrator, #compare, #stiffness, #damping, #step, #tolerance, #speed, #time, #head button, #panel button, #transport button";
  const count = await page.locator(controls).count();
  assert.ok(count >= 19, `only ${count} controls`);
  const value = (control) => control.evaluate((e) => [e.value, e.checked, document.documentElement.dataset.theme, document.body.className]);
  for (let i = 0; i < count; i++) {
    const control = page.locator(controls).nth(i);
    if (await control.isDisabled()) continue;
    const name = await control.evaluate((e) => e.id || e.textContent);
    await control.focus();
    const [before, paused] = [await value(control), await get(page, "page.state.paused")];
    await page.keyboard.press("Space");
    await until(page, `page.state.paused === ${!paused}`, 10000);
    if (name !== "time") assert.deepEqual(await value(control), before, `Space changes ${name}`);
    assert.ok((await get(page, "page.frame.t")) > 0, `Space on ${name} begins anew`);
    assert.ok(!(await page.isVisible("#help")), `Space on ${name} opens the help`);
  }

  // Enter presses buttons and ticks boxes.
  for (const id of ["#wire", "#contacts"]) {
    const before = await page.isChecked(id);
    await page.focus(id);
    await page.keyboard.press("Enter");
    assert.equal(await page.isChecked(id), !before);
  }
  const paused = await get(page, "page.state.paused");
  await page.focus("#play");
  await page.keyboard.press("Enter");
  await until(page, `page.state.paused === ${!paused}`);

  // What is pressed at once is done in its order: the slider, then the step, then both presses of Space.
  await page.evaluate(() => {
    const { source } = window.twang;
    const send = source.send.bind(source);
    window.sent = [];
    source.send = (command) => {
      window.sent.push(command.do === "pause" ? `pause ${command.on}` : command.do);
      send(command);
    };
  });
  await page.focus("#stiffness");
  for (const key of ["ArrowRight", "."]) await page.keyboard.press(key);
  await until(page, "page.state.paused");
  await page.evaluate(() => {
    for (let i = 0; i < 2; i++) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true, cancelable: true }));
  });
  assert.deepEqual(await page.evaluate(() => window.sent), ["stiffness", "step", "pause false", "pause true"]);
  await until(page, "page.state.paused && page.state.stiffness > 1.2");
  await page.context().close();
  await server.stop();
});

test("hidden panels come back by a button", async () => {
  const server = serve(hanging, "--paused");
  const page = await open(await server.ready, { viewport: { width: 375, height: 720 }, hasTouch: true, isMobile: true });
  await until(page, "page.frames > 0");
  assert.ok(!(await page.isVisible("#restore")), "the button is there without need");
  await page.locator("#head button", { hasText: "Panels" }).tap();
  assert.ok(!(await page.isVisible("#panel")) && !(await page.isVisible("#head")), "the panels are not hidden");
  assert.ok(await page.isVisible("#restore"), "nothing brings the panels back");
  await page.locator("#restore").tap();
  assert.ok((await page.isVisible("#panel")) && (await page.isVisible("#head")), "the panels do not come back");
  await page.context().close();
  await server.stop();
});

test("an address without its token says so", async () => {
  const server = serve(hanging, "--paused", "--listen", "127.0.0.1");
  const url = await server.ready;
  const page = await open(url.replace(/\?.*/, ""));
  await notice(page, "This address lacks its token");
  await page.waitForTimeout(1500); // it tries again, and the reason stays
  await notice(page, "This address lacks its token");
  const other = await open(url.replace(/token=../, "token=zz"));
  await notice(other, "is not that of the server");
  await page.context().close();
  await other.context().close();
  await server.stop();
});
