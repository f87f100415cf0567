// The tests of the page in a real browser. Run by run_browser: node browser.mjs [PART OF A TEST'S NAME].
import fs from "node:fs";
import { attempt, browser, tests, work } from "./harness.mjs";
import "./live.mjs";
import "./scenes.mjs";
import "./access.mjs";
import "./finished.mjs";

const only = process.argv[2];
let failed = 0;
for (const { name, body } of tests) {
  if (only && !name.includes(only)) continue;
  const begin = Date.now();
  const error = await attempt(body);
  if (error) failed++;
  const seconds = ((Date.now() - begin) / 1000).toFixed(1);
  console.log(error ? `FAILED  ${name}\n${error.stack}` : `ok      ${name} (${seconds} s)`);
}
await browser.close();
fs.rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
