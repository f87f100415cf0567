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
const report = document.getElementById("twang-report");
const root = document.getElementById("page")!;

// The connection is made while the page is built.
const connection = report ? null : new Connection();
const page = new Page(root);
(window as unknown as { twang: Page }).twang = page;
if (connection) page.source = connection.tell(page);
else openReport(page, root, report!.textContent!);
