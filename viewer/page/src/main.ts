// The page of `twang view` and of `twang report`.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Connection } from "./connection";
import { Page } from "./page";
import { openReport } from "./report";

function storedTheme(): string {
  try {
    const stored = localStorage.getItem("twang-theme");
    if (stored) return stored;
  } catch {
    // A page from a file may have no storage.
  }
  return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
}

document.documentElement.dataset.theme = storedTheme();
const root = document.getElementById("page")!;
const page = new Page(root);
(window as unknown as { twang: Page }).twang = page;

const report = document.getElementById("twang-report");
if (report) openReport(page, root, report.textContent!);
else page.source = new Connection(page);
