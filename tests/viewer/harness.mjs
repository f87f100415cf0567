// What the tests of the page share: servers, a headless Chromium driven by playwright-core, and ways to look at the page.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

export const source = process.env.TWANG_SOURCE;
export const twang = path.join(process.env.TWANG_BUILD, "twang");
const { chromium } = createRequire(path.join(source, "viewer/page/package.json"))("playwright-core");
export const work = fs.mkdtempSync(path.join(os.tmpdir(), "twang-browser-"));

// A rope that hangs at rest, damped: what a hand moves comes back.
export const hanging = path.join(work, "hanging.yaml");
fs.writeFileSync(hanging, `name: hanging
duration: 2
fps: 20
gravity: [0, 0, -9.81]
integrator: {name: midpoint, step: 0.005}
bodies:
  - {kind: rope, count: 8, length: 0.1, mass: 0.1, stiffness: 1e4, direction: [0, 0, -1]}
pins: [{body: 0, from: 0}]
forces: [{kind: rayleigh, alpha: 2}]
`);
export const TIP = 8;

// ---- the server ----

const servers = new Set();
export function serve(...words) {
  const child = spawn(twang, ["view", ...words, "--no-browser", "--threads", "1"], { stdio: ["ignore", "pipe", "inherit"] });
  const ready = new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(String(text).trim()));
    child.once("exit", (code) => reject(new Error(`twang view ended with ${code}`)));
  });
  servers.add(child);
  return { child, ready, stop: () => stop(child) };
}

// Whoever ends the tests ends the servers, too.
process.on("exit", () => servers.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

function stop(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve(child.exitCode);
    child.once("exit", resolve);
    child.kill("SIGTERM");
  });
}

// ---- the browser ----

export const browser = await chromium.launch({
  executablePath: process.env.TWANG_BROWSER ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--no-first-run", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
export const complaints = [];

/** In the page: what the canvas shows, as red, green, blue and opacity of each pixel. */
export function defineCanvasData() {
  window.canvasData = () => {
    const canvas = document.getElementById("canvas");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d");
    context.drawImage(canvas, 0, 0);
    return context.getImageData(0, 0, copy.width, copy.height);
  };
}

export async function open(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 820, height: 560 }, ...options });
  const page = await context.newPage();
  // While the server is away, browsers complain of every attempt to reach it.
  const isAway = (text) => /WebSocket connection|ERR_CONNECTION_REFUSED/.test(text);
  page.on("console", (m) => m.type() === "error" && !isAway(m.text()) && complaints.push(m.text()));
  page.on("pageerror", (e) => complaints.push(e.message));
  await page.addInitScript(defineCanvasData);
  await page.goto(url);
  return page;
}

export const get = (page, expression) => page.evaluate(`(() => { const page = window.twang; return ${expression}; })()`);
/** Waits for a condition. It is asked from outside: the page's content policy forbids to evaluate text inside. */
export async function until(page, condition, timeout = 60000) {
  const end = Date.now() + timeout;
  while (!(await page.evaluate(`(() => { const page = window.twang; return Boolean(page && (${condition})); })()`))) {
    if (Date.now() > end) assert.fail(`not within ${timeout / 1000} s: ${condition}; the state is ${JSON.stringify(await get(page, "page?.state && { ...page.state, integrators: 0 }"))}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}
/** A number that the first lane tells of itself. */
export const telemetry = (name) => `page.frame.telemetry[0][page.state.telemetry.indexOf("${name}")]`;
/** Moves the time slider to a share of the past, as a hand does, and says to which time. */
export const scrub = (page, share) => page.evaluate((s) => {
  const time = document.getElementById("time");
  time.value = String(Number(time.min) + s * (Number(time.max) - Number(time.min)));
  time.dispatchEvent(new Event("input"));
  time.dispatchEvent(new Event("change"));
  return Number(time.value);
}, share);
export const tip = (page) => get(page, `Array.from(page.frame.positions[0].subarray(${3 * TIP}, ${3 * TIP + 3}))`);
export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** How many pixels of the page are drawn in its halves, and a sum that changes with the picture. Slow browsers draw coarser pixels. */
export const pixels = (page) => page.evaluate(() => {
  const { data, width, height } = window.canvasData();
  const canvas = document.getElementById("canvas");
  const size = (canvas.clientWidth * canvas.clientHeight) / (width * height);
  let drawn = [0, 0];
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 200) drawn[(i / 4) % width < width / 2 ? 0 : 1]++;
    sum = (sum * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2]) % 1000000007;
  }
  return { left: size * drawn[0], right: size * drawn[1], sum };
});

/** Drops a file on the page, as a hand does. */
export const drop = (page, name, text) => page.evaluate(([n, t]) => {
  const data = new DataTransfer();
  data.items.add(new File([t], n));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}, [name, text]);
/** Waits until the page says something to the user. */
export const notice = (page, part) => until(page, `!document.getElementById("notice").hidden && document.getElementById("notice").textContent.includes(${JSON.stringify(part)})`, 8000);

export const tests = [];
export const test = (name, body) => tests.push({ name, body });

// ---- one test ----

/** The error of a test, or null. Its servers and pages end with it. */
export async function attempt(body) {
  complaints.length = 0;
  try {
    await body();
    assert.deepEqual(complaints, [], "the console has errors");
    return null;
  } catch (error) {
    return error;
  } finally {
    for (const context of browser.contexts()) await context.close();
    for (const child of servers) await stop(child);
    servers.clear();
  }
}
