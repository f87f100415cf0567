// Takes the pictures of docs/viewer.md: node tests/viewer/pictures.mjs [NAME...], after tests/viewer/run_browser has installed playwright-core.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const twang = path.join(process.env.TWANG_BUILD ?? path.join(source, "build"), "twang");
const figures = process.env.TWANG_FIGURES ?? path.join(source, "docs/figures");
const { chromium } = createRequire(path.join(source, "viewer/page/package.json"))("playwright-core");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "twang-pictures-"));
const browser = await chromium.launch({
  executablePath: process.env.TWANG_BROWSER ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

/** A picture that takes longer than this [ms] is not made: something is wrong. */
const LONGEST = 240000;

async function until(page, condition) {
  const end = Date.now() + LONGEST;
  while (!(await page.evaluate(`(() => { const page = window.twang; return Boolean(page && (${condition})); })()`))) {
    if (Date.now() > end) throw new Error(`not within ${LONGEST / 1000} s: ${condition}`);
    await page.waitForTimeout(50);
  }
}

/** Opens a page of `twang view`, lets `act` do something with it, and takes the picture. */
async function picture(name, words, act, { width = 1200, height = 720, theme = "dark", scale = 1 } = {}) {
  if (process.argv.length > 2 && !process.argv.includes(name)) return;
  const child = spawn(twang, ["view", ...words, "--no-browser", "--threads", "1"], { stdio: ["ignore", "pipe", "inherit"] });
  process.on("exit", () => child.kill());
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(String(text).trim()));
    child.once("exit", (code) => reject(new Error(`${name}: twang view ended with ${code}`)));
  });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, deviceScaleFactor: scale });
  const page = await context.newPage();
  await page.goto(url);
  await until(page, "page.frames > 0");
  await act(page);
  await until(page, "page.stage.drawnQuality === 0"); // what rests is drawn finely
  await page.waitForTimeout(600);
  await page.screenshot({ path: path.join(figures, `view-${name}.png`) });
  await context.close();
  child.kill();
  console.log(name);
}

const pauseAt = async (page, t) => {
  await until(page, `page.frame.t >= ${t}`);
  await page.keyboard.press("Space");
  await until(page, "page.state.paused");
};

await picture("live", ["cloth-on-ball", "--speed", "max"], async (page) => {
  await page.selectOption("#colour", "strain");
  await pauseAt(page, 0.42);
  await page.keyboard.press("f");
});

await picture("drag", ["bunny-wobble", "--dt", "0.0025"], async (page) => {
  await page.selectOption("#colour", "strain");
  await until(page, "page.frame.t > 0.05");

  // The free particle that is highest on the page: the tip of an ear.
  const at = await page.evaluate(() => {
    const { stage, drag } = window.twang;
    const points = Array.from({ length: stage.lanes[0].positions.length / 3 }, (_, p) => p).filter((p) => !drag.held.has(p)).map((p) => window.twang.locate(p));
    return points.reduce((best, p) => (p.y < best.y ? p : best));
  });
  // The hand stays inside the view.
  await page.mouse.move(at.x, at.y + 4);
  await page.mouse.down();
  await page.mouse.move(at.x + 110, Math.max(at.y - 20, 90), { steps: 24 });
  const t = await page.evaluate(() => window.twang.frame.t);
  await until(page, `page.frame.t > ${t} + 0.35`);
  await page.keyboard.press("Space");
  await until(page, "page.state.paused");
});

await picture("compare", ["coil", "--compare", "bdf1", "--speed", "max"], async (page) => {
  await page.selectOption("#colour", "speed");
  await pauseAt(page, 30);
});

await picture("stain", ["brush", "--speed", "max", "--set", "bodies.0.columns=6", "--set", "bodies.0.rows=4", "--set", "bodies.0.spacing=3e-3"], async (page) => {
  await page.selectOption("#colour", "wear");
  await pauseAt(page, 1.3);
});

const run = path.join(work, "bunny-wobble");
const needsRun = process.argv.length < 3 || ["replay", "report", "phone"].some((name) => process.argv.includes(name));
if (needsRun) spawnSync(twang, ["run", "bunny-wobble", "-o", run, "--quiet", "--threads", "1", "--duration", "1", "--fps", "30"], { stdio: "inherit" });

await picture("replay", [run, "--paused"], async (page) => {
  await page.selectOption("#colour", "strain");
  await page.evaluate(() => window.twang.source.send({ do: "seek", value: 0.3 }));
  await until(page, "Math.abs(page.frame.t - 0.3) < 1e-6");
}, { theme: "light" });

await picture("phone", ["rope", "--speed", "0.25"], async (page) => {
  await page.selectOption("#colour", "strain");
  await pauseAt(page, 0.25);
}, { width: 390, height: 760, scale: 1.5 });

if (process.argv.length < 3 || process.argv.includes("report")) {
  const file = path.join(work, "report.html");
  spawnSync(twang, ["report", run, "-o", file, "--quiet"], { stdio: "inherit" });
  const context = await browser.newContext({ viewport: { width: 1200, height: 1500 }, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await until(page, "page.frames > 0");
  await page.evaluate(() => window.twang.source.send({ do: "seek", value: 0.3 }));
  await page.waitForTimeout(800);
  await page.screenshot({ path: path.join(figures, "view-report.png") });
  await context.close();
  console.log("report");
}
await browser.close();
fs.rmSync(work, { recursive: true, force: true });
