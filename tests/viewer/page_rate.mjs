// Measures what the page does with the frames it gets: node tests/viewer/page_rate.mjs [--seconds S] SCENE [OPTIONS OF twang view...]
// For each way to colour it prints the frames per second that came and that were drawn, and the time of the script for each.
// tests/viewer/run_browser installs playwright-core. Without a graphics card Chromium draws by software, on all processors.
import { spawn } from "node:child_process";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const twang = path.join(process.env.TWANG_BUILD ?? path.join(source, "build"), "twang");
const { chromium } = createRequire(path.join(source, "viewer/page/package.json"))("playwright-core");
const words = process.argv.slice(2);
const seconds = words[0] === "--seconds" ? Number(words.splice(0, 2)[1]) : 8;

const server = spawn(twang, ["view", ...words, "--no-browser", "--threads", "1"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => server.kill());
const url = await new Promise((resolve) => server.stdout.once("data", (text) => resolve(String(text).trim())));
const browser = await chromium.launch({
  executablePath: process.env.TWANG_BROWSER ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
const page = await (await browser.newContext({ viewport: { width: 820, height: 560 } })).newPage();
await page.goto(url);
while (!(await page.evaluate(() => window.twang?.frames > 3))) await page.waitForTimeout(50);

/** In the page: counts frames that come and pictures that are drawn, and the milliseconds of the script for both. */
async function count(milliseconds) {
  const { twang } = window;
  const seen = { frames: 0, taking: 0, pictures: 0, drawing: 0 };
  const { onFrame } = twang;
  const { render } = twang.stage.renderer;
  twang.onFrame = (frame) => {
    const begin = performance.now();
    onFrame.call(twang, frame);
    seen.frames++;
    seen.taking += performance.now() - begin;
  };
  twang.stage.renderer.render = (...all) => {
    const begin = performance.now();
    render.apply(twang.stage.renderer, all);
    seen.pictures++;
    seen.drawing += performance.now() - begin;
  };
  const begin = performance.now();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  seen.seconds = (performance.now() - begin) / 1000;
  delete twang.onFrame;
  twang.stage.renderer.render = render;
  return seen;
}

for (const colour of ["", "speed", "strain"]) {
  await page.selectOption("#colour", colour);
  await page.waitForTimeout(3000); // the page finds out how finely it can draw
  const seen = await page.evaluate(count, 1000 * seconds);
  const each = (time, number) => `${(time / Math.max(1, number)).toFixed(1)} ms each`;
  console.log(`${(colour || "body").padEnd(7)} ${(seen.frames / seen.seconds).toFixed(1)} frames per s came (${each(seen.taking, seen.frames)}), `
    + `${(seen.pictures / seen.seconds).toFixed(1)} pictures per s (${each(seen.drawing, seen.pictures)})`);
}
await browser.close();
process.exit(0);
