// Live charts: energy and its balance, momentum, steps, and what they cost.
import uPlot from "uplot";
import type { Frame } from "./protocol";

interface Curve {
  key: string;
  label: string;
  colour: string;
  from?: string; // the number whose first value is taken from this one
}

interface ChartPlan {
  title: string;
  unit: string;
  log?: boolean;
  curves: Curve[];
}

const BLUE = "var(--curve-1)";
const ORANGE = "var(--curve-2)";
const GREEN = "var(--curve-3)";
const RED = "var(--bad)";

const PLANS: ChartPlan[] = [
  {
    title: "Energy, potential counted from the start",
    unit: "J",
    curves: [
      { key: "kinetic", label: "kinetic", colour: ORANGE },
      { key: "potential", label: "potential", colour: GREEN, from: "potential" },
      { key: "total", label: "total", colour: BLUE, from: "potential" },
    ],
  },
  { title: "Energy balance: gained (+) or lost (−)", unit: "J", curves: [{ key: "energy_error", label: "error", colour: BLUE }] },
  {
    title: "Work: damping, outside, contact, plastic flow",
    unit: "J",
    curves: [
      { key: "damping_work", label: "damping", colour: ORANGE },
      { key: "outside_work", label: "outside", colour: GREEN },
      { key: "contact_work", label: "contact", colour: BLUE },
      { key: "plastic_work", label: "plastic", colour: RED },
    ],
  },
  {
    title: "Momentum",
    unit: "kg m/s, kg m²/s",
    curves: [
      { key: "momentum", label: "linear", colour: BLUE },
      { key: "angular_momentum", label: "angular", colour: ORANGE },
    ],
  },
  { title: "Step", unit: "s", log: true, curves: [{ key: "step", label: "step", colour: BLUE }] },
  { title: "Error estimate", unit: "of the tolerance", curves: [{ key: "error_estimate", label: "estimate", colour: BLUE }] },
  {
    title: "Krylov dimension, Newton iterations",
    unit: "",
    curves: [
      { key: "krylov_dimension", label: "Krylov", colour: BLUE },
      { key: "newton_iterations", label: "Newton", colour: ORANGE },
    ],
  },
  { title: "Contacts", unit: "", curves: [{ key: "contacts", label: "contacts", colour: BLUE }] },
  { title: "Cost per step", unit: "ms", curves: [{ key: "cost", label: "cost", colour: BLUE }] },
];

/** Points that are kept; then every second one is dropped. */
const MOST_POINTS = 900;

/** Numbers over time, for every lane. */
class Record {
  times: number[] = [];
  rows: number[][][] = []; // per lane, per number
  private stride = 1;
  private offered = 0;

  clear(lanes: number, numbers: number): void {
    this.times = [];
    this.rows = Array.from({ length: lanes }, () => Array.from({ length: numbers }, () => []));
    this.stride = 1;
    this.offered = 0;
  }

  add(t: number, telemetry: Float64Array[]): void {
    const last = this.times[this.times.length - 1];
    if (t <= last) this.cut(t);
    if (this.offered++ % this.stride !== 0) return;
    this.times.push(t);
    telemetry.forEach((numbers, lane) => numbers.forEach((value, i) => this.rows[lane][i].push(value)));
    if (this.times.length > MOST_POINTS) this.thin();
  }

  /** The last point that is not after t; the newest if t is NaN. */
  indexAt(t: number): number {
    let index = this.times.length - 1;
    while (index > 0 && this.times[index] > t + 1e-9) index--;
    return index;
  }

  /** Forgets what is not before t. */
  private cut(t: number): void {
    let keep = this.times.length;
    while (keep > 0 && this.times[keep - 1] >= t) keep--;
    this.times.length = keep;
    for (const lane of this.rows) for (const row of lane) row.length = keep;
  }

  private thin(): void {
    const even = (list: number[]) => list.filter((_, i) => i % 2 === 0);
    this.times = even(this.times);
    this.rows = this.rows.map((lane) => lane.map(even));
    this.stride *= 2;
  }
}

/** The numbers of a finished run over time, one row per number. */
export interface Series {
  t: number[];
  rows: number[][];
}

export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

const AXIS_FONT = "11px system-ui";
const TICK = 4; // pixels, as all below
const NARROWEST_AXIS = 52;
const ruler = document.createElement("canvas").getContext("2d")!;

/** The width of an axis that holds its longest label, with a little room at either side. */
function axisWidth(labels: string[] | null): number {
  ruler.font = AXIS_FONT;
  const longest = Math.max(0, ...(labels ?? []).map((label) => ruler.measureText(label).width));
  return Math.max(NARROWEST_AXIS, Math.ceil(longest) + TICK + 8);
}

class Chart {
  private plot: uPlot | null = null;
  private readonly root = document.createElement("figure");
  private readonly place = document.createElement("div");
  private readonly values = document.createElement("span");
  private at = NaN; // the moment that is marked [s]; NaN: none

  constructor(
    parent: HTMLElement,
    private readonly plan: ChartPlan,
  ) {
    this.root.className = "chart";
    const caption = document.createElement("figcaption");
    caption.append(plan.title, plan.unit ? ` [${plan.unit}]` : "", this.values);
    this.values.className = "chart-values";
    this.place.setAttribute("aria-hidden", "true");
    this.root.append(caption, this.place);
    parent.append(this.root);
  }

  /** A new plot, for so many lanes. */
  build(lanes: number): void {
    this.plot?.destroy();
    const style = getComputedStyle(document.documentElement);
    const resolve = (colour: string) => style.getPropertyValue(colour.slice(4, -1)).trim();
    const text = style.getPropertyValue("--text-soft").trim();
    const lines = style.getPropertyValue("--line").trim();
    const series: uPlot.Series[] = [{}];
    for (let lane = 0; lane < lanes; lane++)
      for (const curve of this.plan.curves)
        series.push({ label: curve.label, stroke: resolve(curve.colour), width: 1.5, dash: lane ? [4, 3] : [], points: { show: false } });
    const axis = { stroke: text, grid: { stroke: lines, width: 1 }, ticks: { stroke: lines, width: 1, size: TICK }, font: AXIS_FONT };
    const format = (_: uPlot, ticks: number[]) => ticks.map((v) => (v === null ? "" : shortNumber(v)));
    this.plot = new uPlot(
      {
        width: Math.max(160, this.place.clientWidth),
        height: 96,
        legend: { show: false },
        cursor: { show: false },
        padding: [6, 8, 0, 0],
        scales: { x: { time: false }, y: this.plan.log ? { distr: 3 } : {} },
        axes: [
          { ...axis, size: 22, space: 60, values: format },
          { ...axis, size: (_, labels) => axisWidth(labels), space: 22, values: format },
        ],
        series,
        hooks: { draw: [(plot) => this.drawMark(plot, text)] },
      },
      [[], ...series.slice(1).map(() => [])] as uPlot.AlignedData,
      this.place,
    );
  }

  /** A line at the moment that is shown. */
  private drawMark(plot: uPlot, colour: string): void {
    if (Number.isNaN(this.at)) return;
    const x = Math.round(plot.valToPos(this.at, "x", true));
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour;
    ctx.lineWidth = window.devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }

  /** One value with a mark in the colour of its curve. */
  private entry(curve: Curve, lane: number, lanes: number, value: number): HTMLElement {
    const entry = document.createElement("span");
    const mark = document.createElement("i");
    mark.style.color = curve.colour;
    if (lane > 0) mark.className = "dashed";
    entry.append(mark, `${curve.label}${lanes > 1 ? " " + "AB"[lane] : ""} ${shortNumber(value)}`);
    return entry;
  }

  /** Draws the record, with the values at one moment; NaN: the newest. */
  update(record: Record, names: string[], at: number): void {
    this.at = at;
    const index = record.indexAt(at);
    const columns: (number | null)[][] = [record.times];
    const shown: HTMLElement[] = [];
    record.rows.forEach((rows, lane) => {
      for (const curve of this.plan.curves) {
        const start = curve.from ? (rows[names.indexOf(curve.from)]?.[0] ?? 0) : 0;
        const row = (rows[names.indexOf(curve.key)] ?? []).map((v) => v - start);
        const isZero = row.every((v) => !(Math.abs(v) > 0));
        columns.push(this.plan.log || isZero ? row.map((v) => (v > 0 ? v : null)) : row);
        if (!isZero) shown.push(this.entry(curve, lane, record.rows.length, row[index]));
      }
    });
    this.values.replaceChildren(...shown);

    // What has been 0 all the time is not shown: no contacts, no plastic flow, fixed steps.
    this.root.hidden = shown.length === 0;
    if (this.root.hidden) return;
    if (this.plot && this.place.clientWidth > 0 && Math.abs(this.plot.width - this.place.clientWidth) > 2)
      this.plot.setSize({ width: this.place.clientWidth, height: 96 });
    this.plot?.setData(columns as uPlot.AlignedData);
  }
}

export class Charts {
  private readonly charts: Chart[];
  private readonly record = new Record();
  private names: string[] = [];
  private lanes = 0;
  private isDirty = false;
  private isStale = false; // the plots are to be made anew
  private isComplete = false; // all of a finished run is here
  private at = NaN; // the moment that is shown; NaN: the newest

  constructor(parent: HTMLElement) {
    this.charts = PLANS.map((plan) => new Chart(parent, plan));
  }

  /** Draws from now on: the first frame of the simulation does not wait for charts. */
  begin(): void {
    window.setInterval(() => this.draw(), 120);
  }

  /** Begins anew. */
  open(names: string[], lanes: number): void {
    this.names = names;
    this.lanes = lanes;
    this.isComplete = false;
    this.at = NaN;
    this.record.clear(lanes, names.length);
    this.rebuild();
  }

  /** After a change of the theme. The plots are made when they are drawn. */
  rebuild(): void {
    this.isStale = this.isDirty = this.lanes > 0;
  }

  add(frame: Frame): void {
    if (this.names.length === 0) return;
    const isStored = frame.past || this.isComplete;
    this.at = isStored ? frame.t : NaN;
    this.isDirty = true;
    if (isStored) return;
    if (frame.lanes !== this.lanes) this.open(this.names, frame.lanes);
    this.record.add(frame.t, frame.telemetry);
  }

  /** All of a finished run at once. */
  load(names: string[], series: Series): void {
    this.open(names, 1);
    this.isComplete = true;
    this.record.times = series.t;
    this.record.rows = [series.rows];
  }

  private draw(): void {
    if (!this.isDirty || document.hidden) return;
    if (this.isStale) performance.mark("plots");
    if (this.isStale) for (const chart of this.charts) chart.build(this.lanes);
    this.isDirty = this.isStale = false;
    for (const chart of this.charts) chart.update(this.record, this.names, this.at);
  }
}
