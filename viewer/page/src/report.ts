// A report: the page without a server. Frames, charts and tables are in the file itself.
import { shortNumber, type Series } from "./charts";
import { make } from "./dom";
import type { Film, Page } from "./page";
import { recordRows, testRows, type Row } from "./record";
import { dispatch, type Command, type Frame, type Source, type State } from "./protocol";

interface Data {
  state: State;
  geometry: string; // base64 of the geometry message
  times: number[];
  particles: number;
  lower: number[];
  upper: number[];
  field_lower: number[]; // per field
  field_upper: number[];
  frames: string; // base64 of the deflated frames
  run: { [key: string]: unknown }; // run.json
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Plays the frames of a report by its own clock. */
class Reel implements Source, Film {
  private readonly state: State;
  private field = "";
  private t = 0;
  private last = performance.now();
  private shown = -1;
  private sequence = 0;

  constructor(
    private readonly page: Page,
    private readonly data: Data,
    private readonly packed: Uint16Array, // frame after frame: positions, then fields
  ) {
    this.state = { ...data.state };
    const tick = () => {
      this.advance();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  private get end(): number {
    return this.data.times[this.data.times.length - 1];
  }

  private advance(): void {
    const now = performance.now();
    if (!this.state.paused) this.t += (this.state.speed * (now - this.last)) / 1000;
    this.last = now;
    if (this.t > this.end) this.t = 0;
    let index = 0;
    while (index + 1 < this.data.times.length && this.data.times[index + 1] <= this.t + 1e-12) index++;
    if (index !== this.shown) this.show(index);
  }

  get count(): number {
    return this.data.times.length;
  }

  get rate(): number {
    return Math.min(60, Math.max(5, (this.count - 1) / Math.max(this.end, 1e-9)));
  }

  /** Stops at a frame and draws it. */
  show(index: number): void {
    if (this.page.stage.isFilm) [this.state.paused, this.t] = [true, this.data.times[index]];
    this.shown = index;
    this.page.onFrame(this.unpack(index));
    this.page.stage.draw();
  }

  /** Positions are 16-bit shares of the box that holds the whole run. */
  private unpack(index: number): Frame {
    const { particles, lower, upper, field_lower, field_upper, times } = this.data;
    const fields = this.state.fields;
    const begin = index * particles * (3 + fields.length);
    const positions = new Float32Array(3 * particles);
    for (let i = 0; i < 3 * particles; i++) {
      const k = i % 3;
      positions[i] = lower[k] + ((upper[k] - lower[k]) * this.packed[begin + i]) / 65535;
    }
    const field = fields.indexOf(this.field);
    const values: Float32Array[] = [];
    if (field >= 0) {
      const low = field_lower[field];
      const high = field_upper[field];
      const from = begin + (3 + field) * particles;
      values.push(Float32Array.from(this.packed.subarray(from, from + particles), (v) => low + ((high - low) * v) / 65535));
    }
    return {
      t: times[index], rate: this.state.speed, historyFrom: 0, historyTo: this.end, lanes: 1, particles, past: false,
      sequence: this.sequence++, epoch: 0, telemetry: [new Float64Array(this.state.telemetry.length)], positions: [positions], field, values, contacts: [],
    };
  }

  send(command: Command): void {
    const { times } = this.data;
    if (command.do === "pause") this.state.paused = command.on;
    else if (command.do === "speed") this.state.speed = command.value;
    else if (command.do === "reset") this.t = 0;
    else if (command.do === "field") this.field = command.name;
    else if (command.do === "seek") [this.t, this.state.paused] = [command.value, true];
    else if (command.do === "step") [this.t, this.state.paused] = [times[(this.shown + 1) % times.length], true];
    this.shown = command.do === "field" ? -1 : this.shown;
    this.page.onState({ ...this.state });
  }

  upload(): void {}
}

/** The keys of run.json are the tips of their rows. */
function table(title: string, rows: Row[]): HTMLElement {
  const lines = rows.map(({ label, value, key }) =>
    make("tr", {}, make("th", { scope: "row", title: key ?? "" }, label), make("td", {}, value)));
  return make("section", {}, make("h2", {}, title), make("table", {}, make("tbody", {}, ...lines)));
}

/** The energy balance from the first row of the telemetry to the last. */
function balance(data: Data, series: Series): Row[] {
  const of = (name: string) => series.rows[data.state.telemetry.indexOf(name)] ?? [];
  const last = (name: string) => `${shortNumber(of(name)[of(name).length - 1] ?? NaN)} J`;
  const largest = of("energy_error").reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  return [
    { label: "kinetic energy at the end", value: last("kinetic") },
    { label: "potential energy at the end", value: last("potential") },
    { label: "taken by damping", value: last("damping_work") },
    { label: "given from outside", value: last("outside_work") },
    { label: "taken by contact and friction", value: last("contact_work") },
    { label: "taken by plastic flow", value: last("plastic_work") },
    { label: "gained (+) or lost (−) by the end", value: last("energy_error") },
    { label: "gained or lost at most", value: `${shortNumber(largest)} J` },
  ];
}

function tables(data: Data, series: Series): HTMLElement {
  const tests = testRows(data.run);
  const article = make("article", { id: "tables" }, table("Energy balance", balance(data, series)), table("The run", recordRows(data.run)));
  if (tests.length > 0) article.append(table("The tests of the scene", tests));
  return article;
}

export async function openReport(page: Page, root: HTMLElement, json: string): Promise<void> {
  const data: Data = JSON.parse(json);
  document.body.classList.add("report");
  page.onState({ ...data.state });
  dispatch(bytesOf(data.geometry).buffer, page);
  root.append(tables(data, page.series!));
  const packed = undelta(new Uint16Array(await inflate(bytesOf(data.frames))), data);
  const reel = new Reel(page, data, packed);
  page.source = reel;
  page.film = reel;
  page.stage.isFilm = location.hash === "#film";
  if (page.stage.isFilm) document.body.classList.add("bare", "film");
  reel.show(0);
}

/** Each frame but the first is stored as the difference to the one before: it deflates better. */
function undelta(packed: Uint16Array, data: Data): Uint16Array {
  const size = data.particles * (3 + data.state.fields.length);
  for (let i = size; i < packed.length; i++) packed[i] += packed[i - size];
  return packed;
}
