// The bar below the stage: reset, pause, step, speed, and the past.
import { shortNumber } from "./charts";
import { button, fill, make, select } from "./dom";
import type { Command, Frame, State } from "./protocol";

const SPEEDS = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 0];

export function speedText(speed: number): string {
  if (speed === 0) return "max";
  return speed >= 1 ? `× ${shortNumber(speed)}` : `× 1/${Math.round(1 / speed)}`;
}

export class Transport {
  readonly root: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly here: HTMLButtonElement;
  private readonly time: HTMLInputElement;
  private readonly clock: HTMLOutputElement;
  private readonly speed;
  private state: State | null = null;
  private isScrubbing = false;
  private sought = NaN;

  constructor(private readonly send: (command: Command) => void) {
    this.play = button("Pause", "Pause or go on", "Space", () => this.toggle());
    this.play.id = "play";
    const step = button("Step", "One step", ".", () => send({ do: "step" }));
    const reset = button("Reset", "Back to the start", "R", () => send({ do: "reset" }));
    this.here = button("Start here", "Go on from the moment that is shown", "", () => send({ do: "start_here" }));
    this.here.id = "here";
    this.speed = select("Speed", "speed", (value) => send({ do: "speed", value: Number(value) }));
    this.time = make("input", { type: "range", id: "time", min: 0, max: 1, step: "any", "aria-label": "Time: drag to look at the past" });
    this.clock = make("output", { id: "clock", for: "time" });
    this.time.addEventListener("input", () => this.scrub());
    this.time.addEventListener("change", () => (this.isScrubbing = false));
    this.root = make("footer", { id: "transport" }, make("div", { class: "buttons" }, reset, this.play, step, this.speed.root),
      make("div", { class: "past" }, this.time, this.clock, this.here));
  }

  /** The next press counts from this one, also before the answer is here. */
  toggle(): void {
    if (!this.state) return;
    const on = !this.state.paused;
    this.state = { ...this.state, paused: on };
    this.send({ do: "pause", on });
  }

  faster(by: number): void {
    if (!this.state) return;
    const at = SPEEDS.findIndex((s) => Math.abs(s - this.state!.speed) < 1e-9);
    const next = SPEEDS[Math.min(Math.max((at < 0 ? 5 : at) + by, 0), SPEEDS.length - 1)];
    this.send({ do: "speed", value: next });
  }

  /** At most one wish per drawn frame. */
  private scrub(): void {
    const isWaiting = !Number.isNaN(this.sought);
    this.isScrubbing = true;
    this.sought = Number(this.time.value);
    if (isWaiting) return;
    requestAnimationFrame(() => {
      this.send({ do: "seek", value: Math.max(0, this.sought) });
      this.sought = NaN;
    });
  }

  update(state: State): void {
    this.state = state;
    this.play.textContent = state.paused ? "Play" : "Pause";
    this.play.setAttribute("aria-pressed", String(state.paused));
    this.here.hidden = state.mode !== "live";
    const speeds = SPEEDS.includes(state.speed) ? SPEEDS : [state.speed, ...SPEEDS];
    fill(this.speed.input, speeds.filter((s) => s > 0 || state.mode === "live").map((s) => ({ value: String(s), text: speedText(s) })), String(state.speed));
  }

  show(frame: Frame): void {
    this.here.disabled = !frame.past;
    this.clock.textContent = `${frame.t.toFixed(frame.historyTo < 10 ? 3 : 2)} s`;
    this.time.min = String(frame.historyFrom);
    this.time.max = String(Math.max(frame.historyTo, frame.historyFrom + 1e-9));
    if (!this.isScrubbing) this.time.value = String(frame.t);
    this.time.setAttribute("aria-valuetext", `${shortNumber(frame.t)} seconds`);
  }
}
