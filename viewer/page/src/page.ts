// The whole page: stage, panel, transport, and what connects them with a source of frames.
import * as THREE from "three";
import { gradient } from "./colours";
import { shortNumber, type Series } from "./charts";
import { Panel, fieldText } from "./controls";
import { button, make } from "./dom";
import { Drag } from "./drag";
import { hasToken, sentName, whyRefused } from "./dropped";
import { helpDialog } from "./help";
import { bindKeys } from "./keys";
import { hasDrawnPins } from "./laneview";
import type { Command, Frame, Geometry, Listener, Source, State } from "./protocol";
import { Stage } from "./stage";
import { Transport, speedText } from "./transport";

/** What takes pictures of a report one frame after another. */
export interface Film {
  count: number;
  rate: number; // frames per second
  show(index: number): void;
}

const UNITS: { [field: string]: string } = { speed: " m/s", wear: " J/m²" };

export class Page implements Listener {
  readonly stage: Stage;
  readonly drag: Drag;
  readonly panel: Panel;
  readonly transport: Transport;
  readonly help = helpDialog();
  source: Source = { send() {}, upload() {} };
  state: State | null = null;
  frame: Frame | null = null;
  frames = 0;
  film: Film | null = null;
  connected = false;
  series: Series | null = null;

  private readonly canvas = make("canvas", { id: "canvas", tabindex: 0, role: "application", "aria-label": "The simulation. Arrow keys turn the view, P pulls." });
  private readonly title = make("h1", {}, "Twang");
  private readonly badge = make("span", { id: "badge" });
  private readonly rate = make("span", { id: "rate" });
  private readonly labels = make("div", { id: "labels", "aria-hidden": "true" });
  private readonly legend = make("div", { id: "legend", hidden: true });
  private readonly notice = make("div", { id: "notice", role: "status", "aria-live": "polite", hidden: true });

  constructor(root: HTMLElement) {
    this.stage = new Stage(this.canvas);
    this.drag = new Drag(this.canvas, this.stage, () => this.source);
    this.panel = new Panel({
      send: (command) => this.source.send(command),
      colourBy: (mode) => this.colourBy(mode),
      wireframe: (on) => this.stage.wireframe(on),
      contacts: (on) => this.stage.showContacts(on),
      frame: () => this.stage.frameAll(),
    });
    this.transport = new Transport((command) => this.send(command));
    this.stage.onFirst = () => this.panel.charts.begin();
    this.stage.onRange = (range, map) => this.showLegend(range.low, range.high, map);

    const header = make("header", { id: "head" }, this.title, this.badge, this.rate, make("span", { class: "gap" }),
      button("Panels", "Hide or show the panels", "H", () => this.togglePanels()),
      button("Theme", "Dark or light", "T", () => this.toggleTheme()),
      button("?", "Help", "?", () => this.help.showModal()));
    const restore = button("Panels", "Show the panels", "H", () => this.togglePanels());
    restore.id = "restore";
    const stage = make("main", { id: "stage" }, this.canvas, this.labels, this.legend, restore);
    root.append(header, stage, this.notice, this.panel.root, this.transport.root, this.help);

    this.applyTheme(document.documentElement.dataset.theme !== "light");
    bindKeys(this);
    this.acceptFiles(stage);
    const draw = () => {
      this.drag.show();
      this.stage.draw();
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
  }

  // ---- what comes in ----

  onConnection(connected: boolean): void {
    this.connected = connected;
    this.updateBadge();
    if (!connected && this.state) this.say("The server does not answer. Trying again.", "bad");
    else if (connected) this.say("", "");
  }

  onRefused(): void {
    const reason = hasToken() ? "The token of this address is not that of the server." : "This address lacks its token.";
    this.say(`${reason} Open the whole address that twang view has printed.`, "bad");
  }

  onState(state: State): void {
    const isNew = !this.state || this.state.scene !== state.scene || this.state.lanes.length !== state.lanes.length;
    const failure = state.lanes.find((lane) => lane.failure)?.failure;
    this.state = state;
    this.panel.update(state);
    this.transport.update(state);
    this.drag.enabled = state.mode === "live";
    this.title.textContent = state.scene;
    document.title = `${state.scene} – Twang`;
    this.updateBadge();
    this.updateRate();
    this.labels.replaceChildren(...(state.lanes.length > 1 ? state.lanes.map((lane, i) => make("span", {}, `${"AB"[i]}  ${lane.integrator}`)) : []));
    if (isNew) this.openCharts();
    if (failure) this.say(`The step failed: ${failure.text}. ${failure.particle >= 0 ? `The largest acceleration is at particle ${failure.particle}, marked red. ` : ""}Try a smaller step or another integrator, or go back in time.`, "bad");
    else this.say(state.message, state.message ? "bad" : "");
    this.markFailures();
  }

  onGeometry(geometry: Geometry): void {
    this.stage.open(geometry);
    this.drag.open(geometry);
    this.panel.showPins(hasDrawnPins(geometry));
    this.series = geometry.series;
    this.openCharts();
  }

  /** The charts of a finished run are whole; those of a live one begin. */
  private openCharts(): void {
    if (!this.state) return;
    const { charts } = this.panel;
    if (this.series) charts.load(this.state.telemetry, this.series);
    else charts.open(this.state.telemetry, this.state.lanes.length);
  }

  onFrame(frame: Frame): void {
    this.frame = frame;
    this.frames++;
    this.stage.show(frame);
    this.transport.show(frame);
    this.panel.charts.add(frame);
    this.markFailures();
    this.updateRate();
  }

  /** The real-time factor that is reached, and the one that is wanted. */
  private updateRate(): void {
    if (!this.state || !this.frame) return;
    const reached = `real time × ${shortNumber(Number(this.frame.rate.toPrecision(2)))} of ${speedText(this.state.speed)}`;
    const resting = this.frame.past ? "the past" : "paused";
    this.rate.textContent = this.state.paused ? resting : reached;
  }

  private markFailures(): void {
    this.state?.lanes.forEach((lane, i) => this.stage.lanes[i]?.markParticle(lane.failure ? lane.failure.particle : -1));
  }

  private updateBadge(): void {
    const text = this.connected ? (this.state?.mode ?? "") : this.state?.mode === "report" ? "report" : "offline";
    this.badge.textContent = text;
    this.badge.dataset.kind = text;
  }

  // ---- what the user does ----

  /** What the sliders have not sent yet goes first: a step that follows is made with it. */
  send(command: Command): void {
    this.panel.flush();
    this.source.send(command);
  }

  colourBy(mode: string): void {
    this.legend.hidden = mode === "";
    this.stage.colourBy(mode);
  }

  togglePanels(): void {
    document.body.classList.toggle("bare");
  }

  toggleTheme(): void {
    this.applyTheme(document.documentElement.dataset.theme === "light");
    this.panel.charts.rebuild();
  }

  private applyTheme(dark: boolean): void {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.stage.setTheme(dark);
    try {
      localStorage.setItem("twang-theme", dark ? "dark" : "light");
    } catch {
      // A page from a file may have no storage.
    }
  }

  private acceptFiles(stage: HTMLElement): void {
    document.addEventListener("dragover", (e) => {
      e.preventDefault();
      stage.classList.add("dropping");
    });
    for (const name of ["dragleave", "drop"] as const) document.addEventListener(name, () => stage.classList.remove("dropping"));
    document.addEventListener("drop", (e) => {
      e.preventDefault();
      const file = e.dataTransfer?.files[0];
      if (file) void this.openFile(file);
    });
  }

  /** Sends a file to the server, or says why not. */
  private async openFile(file: File): Promise<void> {
    const name = sentName(file.name);
    const why = whyRefused(file, this.state, this.connected);
    if (why) return this.say(why, "bad");
    this.say(`Opening ${name} …`, "good");
    try {
      this.source.upload(name, await file.arrayBuffer());
    } catch {
      this.say(`${name}: the browser cannot read it. A folder cannot be opened.`, "bad");
    }
  }

  say(text: string, kind: string): void {
    this.notice.textContent = text;
    this.notice.dataset.kind = kind;
    this.notice.hidden = text === "";
  }

  private showLegend(low: number, high: number, map: Float32Array): void {
    if (this.legend.hidden) return;
    const mode = fieldText(this.panel.colourMode);
    const unit = UNITS[this.panel.colourMode] ?? "";
    if (this.legend.childElementCount === 0) this.legend.append(make("span"), make("i"), make("span"));
    const [left, bar, right] = this.legend.children as unknown as [HTMLElement, HTMLElement, HTMLElement];
    left.textContent = `${mode}  ${shortNumber(low)}`;
    right.textContent = shortNumber(high) + unit;
    bar.style.background = gradient(map);
  }

  /** For tests and scripts: where a particle of a lane is on the page [pixels]. */
  locate(particle: number, lane = 0): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const count = Math.max(1, this.stage.lanes.length);
    const point = new THREE.Vector3().fromArray(this.stage.lanes[lane].positions, 3 * particle).project(this.stage.camera);
    return { x: box.left + ((lane + (point.x + 1) / 2) * box.width) / count, y: box.top + ((1 - point.y) / 2) * box.height };
  }
}
