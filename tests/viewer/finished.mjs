// Finished runs: replay, report, poster and video.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { browser, complaints, defineCanvasData, drop, get, hanging, notice, open, pixels, serve, test, twang, until, work } from "./harness.mjs";

function makeRun() {
  const directory = path.join(work, "run");
  if (fs.existsSync(directory)) return directory;
  const done = spawnSync(twang, ["run", hanging, "-o", directory, "--quiet", "--threads", "1", "--set", "bodies.0.direction=[1, 0, 0]",
    "--set", "tests={steps_max: 1000}"], { stdio: "inherit" });
  assert.equal(done.status, 0);
  return directory;
}

function readCsv(directory, index) {
  const text = fs.readFileSync(path.join(directory, "frames", `frame_${String(index).padStart(6, "0")}.csv`), "utf8");
  return text.trim().split("\n").slice(1).flatMap((line) => line.split(",").slice(0, 3).map((v) => Math.fround(Number(v))));
}

/** The charts have all of the run, and their headings the numbers of the moment that is shown. */
async function checkHeadings(page, t) {
  const row = `page.series.rows[page.state.telemetry.indexOf("kinetic")]`;
  const at = `page.series.t.findLastIndex((t) => t <= ${t} + 1e-9)`;
  const wanted = await get(page, `${row}[${at}]`);
  assert.ok(wanted > 0, "the charts have no kinetic energy");
  assert.ok((await get(page, "page.series.t.at(-1)")) >= 1.99, "the charts end before the run");
  const heading = `Number(document.querySelector(".chart-values").textContent.match(/kinetic ([-0-9.e]+)/)?.[1])`;
  await until(page, `Math.abs(${heading} - (${wanted})) <= 1e-3 * ${wanted}`);
}

test("a replay shows the frames on the disk", async () => {
  const directory = makeRun();
  const server = serve(directory, "--paused");
  const page = await open(await server.ready);
  await until(page, "page.frame && page.state.mode === 'replay'");
  for (const index of [0, 7, 23, 40]) {
    await page.evaluate((t) => window.twang.source.send({ do: "seek", value: t }), index / 20);
    await until(page, `Math.abs(page.frame.t - ${index / 20}) < 1e-9`);
    assert.deepEqual(await get(page, "Array.from(page.frame.positions[0])"), readCsv(directory, index), `frame ${index}`);
  }
  assert.ok(!(await page.isVisible("#contacts")), "a replay has no contacts to show");
  await page.evaluate(() => window.twang.source.send({ do: "seek", value: 0.6 }));
  await checkHeadings(page, 0.6);
  await drop(page, "hanging.yaml", "name: x\n");
  await notice(page, "hanging.yaml: a replay opens no files");
  await page.keyboard.press("Space");
  await until(page, "!page.state.paused && page.frame.t > 0 && page.frame.t < 1.5");
  await page.context().close();
  await server.stop();
});

/** The numbers in the heading of the first chart, of energies. */
const energies = (page) => page.evaluate(() => Object.fromEntries(
  [...document.querySelector(".chart-values").textContent.matchAll(/(kinetic|potential|total) ([-0-9.]+(?:e[-0-9]+)?)/g)].map(([, name, value]) => [name, Number(value)])));

test("energies of a finished run count from its start, and the labels of axes are whole", async () => {
  // Telemetry has its first row after 32 steps, when the rope is fast.
  const directory = path.join(work, "seldom");
  const words = ["--integrator", "verlet", "--dt", "0.002", "--set", "bodies.0.direction=[1, 0, 0]", "--set", "output.telemetry_every=32", "--set", "forces=[]"];
  assert.equal(spawnSync(twang, ["run", hanging, "-o", directory, "--quiet", "--threads", "1", ...words], { stdio: "inherit" }).status, 0);
  const file = path.join(work, "seldom.html");
  assert.equal(spawnSync(twang, ["report", directory, "-o", file, "--quiet"], { stdio: "inherit" }).status, 0);
  const server = serve(directory, "--paused");
  for (const url of [await server.ready, pathToFileURL(file).href]) {
    const page = await open(url);
    await until(page, "page.frame && page.series");
    await page.evaluate(() => window.twang.source.send({ do: "seek", value: 0.2 }));
    await until(page, "/kinetic 1[.]2/.test(document.querySelector('.chart-values')?.textContent)");
    const later = await energies(page);
    assert.ok(later.kinetic > 1, `the rope rests: ${JSON.stringify(later)}`);
    assert.ok(Math.abs(later.total ?? 0) < 0.02 * later.kinetic, `the total is ${later.total} J beside ${later.kinetic} J of motion`);
    assert.equal(await get(page, "page.series.t[0]"), 0, "the charts begin late");

    // Labels as long as -1.00e-10: what reaches the left edge of a chart is cut off there.
    await page.evaluate(() => {
      const { panel, state } = window.twang;
      panel.charts.load(state.telemetry, { t: [0, 1, 2], rows: state.telemetry.map((name) => (name === "step" ? [1, 1, 1] : [0, -1e-10, -3e-10])) });
    });
    await page.waitForTimeout(500);
    const cut = await page.evaluate(() => [...document.querySelectorAll(".chart canvas")].filter((c) => c.checkVisibility()).map((canvas) =>
      canvas.getContext("2d").getImageData(0, 0, 3, canvas.height).data.some((value) => value > 0)));
    assert.ok(cut.length >= 3, "there are no charts");
    assert.deepEqual(cut.filter(Boolean), [], `labels are cut off at the left: ${cut}`);
    await page.context().close();
  }
  await server.stop();
});

test("a report opens from the disk, without a network", async () => {
  const directory = makeRun();
  const file = path.join(work, "report.html");
  assert.equal(spawnSync(twang, ["report", directory, "-o", file, "--quiet"], { stdio: "inherit" }).status, 0);
  const context = await browser.newContext({ viewport: { width: 820, height: 560 }, offline: true });
  const page = await context.newPage();
  await page.addInitScript(defineCanvasData);
  const requests = [];
  page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && requests.push(r.url()));
  page.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
  page.on("pageerror", (e) => complaints.push(e.message));
  await page.goto(pathToFileURL(file).href);
  await until(page, "page.frames > 3 && page.frame.t > 0.2");
  assert.deepEqual(requests, []);
  await page.evaluate(() => window.twang.source.send({ do: "seek", value: 1.15 }));
  await until(page, "Math.abs(page.frame.t - 1.15) < 1e-9");
  const shown = await get(page, "Array.from(page.frame.positions[0])");
  readCsv(directory, 23).forEach((x, i) => assert.ok(Math.abs(x - shown[i]) < 2e-5, `coordinate ${i}: ${shown[i]} instead of ${x}`));
  await checkHeadings(page, 1.15);
  await page.evaluate(() => window.twang.source.send({ do: "seek", value: 0.3 }));
  await checkHeadings(page, 0.3);
  assert.ok((await page.locator("#tables tr").count()) > 10, "the tables are empty");
  const cells = await page.locator("#tables td").allTextContents();
  assert.deepEqual(cells.filter((text) => ["", "null", "[]", "{}"].includes(text)), [], "the tables have rows that say nothing");

  // The table is in plain English, with the keys of run.json as tips.
  const heads = await page.locator("#tables th").evaluateAll((list) => list.map((th) => [th.title, th.textContent]));
  assert.deepEqual(heads.filter(([, label]) => label.includes("_")), [], "labels that are keys");
  const record = JSON.parse(fs.readFileSync(path.join(directory, "run.json"), "utf8"));
  const told = Object.keys(record).filter((key) => key !== "tests" && record[key] !== null);
  assert.deepEqual(heads.map(([key]) => key).filter((key) => key && key !== "steps_max"), told, "the rows of the run");
  const unnamed = heads.filter(([key, label]) => key.includes("_") && label === key.replaceAll("_", " ") && key !== "status_code");
  assert.deepEqual(unnamed, [], "keys without a label: viewer/page/src/record.ts has them");
  assert.equal(new Map(heads).get("energy_drift_max"), "largest energy error, as a share of the energy converted");
  assert.match((await page.locator("#tables tr", { has: page.locator("th[title=steps_max]") }).textContent()), /400, expected 1000: passed/);
  assert.ok((await page.locator(".chart canvas").count()) >= 8, "there are no charts");
  const picture = await pixels(page);
  assert.ok(picture.left + picture.right > 300);

  // It plays on without its panels, and a button brings them back.
  await page.evaluate(() => window.twang.source.send({ do: "pause", on: false }));
  await page.keyboard.press("h");
  assert.ok(!(await page.isVisible("#head")), "the panels are not hidden");
  const before = await get(page, "page.frame.t");
  await until(page, `page.frame.t > ${before} + 0.2 || page.frame.t < ${before}`, 8000);
  await page.click("#restore");
  assert.ok(await page.isVisible("#head"), "the panels do not come back");
  await drop(page, "hanging.yaml", "name: x\n");
  await notice(page, "a report opens no files");
  await context.close();
});

test("a poster and a video are made where ffmpeg is", async () => {
  const run = path.join(work, "short");
  assert.equal(spawnSync(twang, ["run", hanging, "-o", run, "--quiet", "--threads", "1", "--duration", "0.3", "--set", "bodies.0.direction=[1, 0, 0]"]).status, 0);
  const poster = path.join(work, "poster.png");
  const video = path.join(work, "video.mp4");
  const hasFfmpeg = spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status === 0;
  const words = ["report", run, "-o", path.join(work, "film.html"), "--quiet", "--poster", poster, ...(hasFfmpeg ? ["--video", video] : [])];
  assert.equal(spawnSync(twang, words, { stdio: "inherit" }).status, 0);
  const png = fs.readFileSync(poster);
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1280, 720]);
  if (!hasFfmpeg) return;
  const gray = (file) => spawnSync("ffmpeg", ["-loglevel", "error", "-i", file, "-vf", "scale=320:180", "-pix_fmt", "gray", "-f", "rawvideo", "-"], { maxBuffer: 1 << 26 }).stdout;

  // Every frame of the run is in the video, and they differ.
  const size = 320 * 180;
  const raw = gray(video);
  assert.equal(raw.length, 7 * size, "not seven frames");
  const changes = (a, b) => a.filter((v, k) => Math.abs(v - b[k]) > 20).length;
  const frame = (index) => raw.subarray(index * size, (index + 1) * size);
  for (let i = 1; i < 7; i++) assert.ok(changes(frame(i - 1), frame(i)) > 5, `frame ${i} is the one before it`);
  assert.ok(changes(frame(0), frame(6)) > 50, `only ${changes(frame(0), frame(6))} pixels change from the first frame to the last`);

  // The poster is the frame after a third of the run.
  const shown = gray(poster);
  assert.ok(changes(shown, frame(2)) < 20, `the poster differs in ${changes(shown, frame(2))} pixels from its frame`);
  assert.ok(changes(shown, frame(6)) > 50, "the poster is another frame");
});
