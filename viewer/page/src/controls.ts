// The panel: how it looks, what is simulated, and the charts.
import { Charts, shortNumber } from "./charts";
import { button, fill, make, select, slider, type Slider } from "./dom";
import type { Command, State } from "./protocol";

export interface Wishes {
  send(command: Command): void;
  colourBy(mode: string): void;
  wireframe(on: boolean): void;
  contacts(on: boolean): void;
  frame(): void;
}

const power = (position: number) => Math.pow(10, position);
const AS_SCENE = "as in the scene";
const FIXED = "fixed steps";

const CONTACTS_TIP = "Orange points mark where surfaces touch";
const PINS_TIP = "Gold balls mark particles that the scene holds in place, or moves by itself: they cannot be pulled";

/** The leftmost place of a slider that can also be switched off. */
const DAMPING_OFF = -4;
const TOLERANCE_OFF = -11;

export class Panel {
  readonly root: HTMLElement;
  readonly charts: Charts;
  private readonly contacts: HTMLElement;
  private readonly pins: HTMLElement;
  readonly wire: HTMLInputElement;
  private readonly live: HTMLElement;
  private readonly colour;
  private readonly integrator;
  private readonly compare;
  private readonly stiffness: Slider;
  private readonly damping: Slider;
  private readonly step: Slider;
  private readonly tolerance: Slider;
  private mode = "";

  constructor(wishes: Wishes) {
    this.colour = select("Colour by", "colour", (value) => {
      this.mode = value;
      wishes.colourBy(value);
      wishes.send({ do: "field", name: value === "strain" ? "" : value });
    });
    this.wire = make("input", { type: "checkbox", id: "wire" });
    this.wire.addEventListener("change", () => wishes.wireframe(this.wire.checked));
    const contacts = make("input", { type: "checkbox", id: "contacts", checked: true });
    contacts.addEventListener("change", () => wishes.contacts(contacts.checked));
    this.contacts = make("label", { class: "check", for: "contacts", title: CONTACTS_TIP }, contacts, make("i", { class: "mark contact" }), "contacts");
    this.pins = make("p", { id: "pins", title: PINS_TIP, hidden: true }, make("i", { class: "mark pin" }), "held in place");
    this.integrator = select("Integrator", "integrator", (name) => wishes.send({ do: "integrator", lane: 0, name }));
    this.compare = select("Beside it", "compare", (name) => wishes.send({ do: "compare", name }));
    this.stiffness = slider("Stiffness", "stiffness", -5, 5, 0.1, (p) => `× ${shortNumber(power(p))}`, (p) =>
      wishes.send({ do: "stiffness", value: power(p) }));
    this.damping = slider("Damping", "damping", DAMPING_OFF, 3, 0.1, describeDamping, (p) =>
      wishes.send({ do: "damping", value: p <= DAMPING_OFF ? 0 : power(p) }));
    this.step = slider("Step", "step", -6, 1, 0.05, (p) => `${shortNumber(power(p))} s`, (p) =>
      wishes.send({ do: "step_size", value: power(p) }));
    this.tolerance = slider("Tolerance", "tolerance", TOLERANCE_OFF, -1, 0.1, describeTolerance, (p) =>
      wishes.send({ do: "tolerance", value: p <= TOLERANCE_OFF ? 0 : power(p) }));

    this.live = make("section", { "aria-label": "Simulation" }, make("h2", {}, "Simulation"), this.integrator.root, this.compare.root,
      this.stiffness.root, this.damping.root, this.step.root, this.tolerance.root);
    const charts = make("div", { class: "charts" });
    this.root = make("aside", { id: "panel", "aria-label": "Settings and charts" },
      make("section", { "aria-label": "View" }, make("h2", {}, "View"), this.colour.root,
        make("div", { class: "row" }, make("label", { class: "check", for: "wire" }, this.wire, "wireframe"),
          this.contacts,
          button("Frame", "Look at everything", "F", wishes.frame)),
        this.pins),
      this.live,
      make("section", { "aria-label": "Charts" }, make("h2", {}, "Charts"), charts));
    this.charts = new Charts(charts);
  }

  update(state: State): void {
    this.live.hidden = state.mode !== "live";
    this.contacts.hidden = state.mode !== "live"; // finished runs have none
    const fields = ["strain", ...state.fields.filter((name) => name !== "strain")];
    fill(this.colour.input, [{ value: "", text: "body" }, ...fields.map((value) => ({ value, text: fieldText(value) }))], this.mode);
    const schemes = state.integrators.map((s) => ({ value: s.name, text: s.name, tip: s.text }));
    fill(this.integrator.input, schemes, state.lanes[0].integrator);
    fill(this.compare.input, [{ value: "", text: "nothing" }, ...schemes], state.lanes[1]?.integrator ?? "");

    const lane = state.lanes[0];
    this.stiffness.set(Math.log10(state.stiffness), `× ${shortNumber(state.stiffness)}`);
    const damping = state.damping > 0 ? Math.log10(state.damping) : DAMPING_OFF;
    this.damping.set(damping, state.damping < 0 ? AS_SCENE : describeDamping(damping));
    this.step.set(Math.log10(lane.step || 1e-6), lane.step > 0 ? `${shortNumber(lane.step)} s` : "chosen");
    const tolerance = lane.tolerance > 0 ? Math.log10(lane.tolerance) : TOLERANCE_OFF;
    this.tolerance.set(tolerance, describeTolerance(tolerance));
  }

  /** Says what the balls at held particles are, where some are drawn. */
  showPins(isDrawn: boolean): void {
    this.pins.hidden = !isDrawn;
  }

  /** Sends what the sliders have not sent yet. */
  flush(): void {
    for (const slider of [this.stiffness, this.damping, this.step, this.tolerance]) slider.flush();
  }

  get colourMode(): string {
    return this.mode;
  }
}

/** What a field is called on the page. */
export function fieldText(name: string): string {
  return name === "wear" ? "stain (wear)" : name.replaceAll("_", " ");
}

function describeDamping(p: number): string {
  return p <= DAMPING_OFF ? "0 /s" : `${shortNumber(power(p))} /s`;
}

function describeTolerance(p: number): string {
  return p <= TOLERANCE_OFF ? FIXED : shortNumber(power(p));
}
