// What the server and the page say to each other. docs/viewer.md describes the bytes.
import type { Series } from "./charts";

export interface Failure {
  particle: number;
  text: string;
}

export interface LaneState {
  integrator: string;
  step: number;
  tolerance: number;
  failure: Failure | null;
}

export interface State {
  mode: "live" | "replay" | "report";
  scene: string;
  paused: boolean;
  speed: number; // 0: as fast as it can
  duration: number;
  stiffness: number;
  damping: number; // negative: as in the scene
  pulled: number;
  lanes: LaneState[];
  message: string;
  integrators: { name: string; text: string }[];
  telemetry: string[];
  fields: string[];
  version: string;
}

export interface Surface {
  carriers: Uint32Array; // four particles per vertex
  weights: Float32Array;
  edges: Uint32Array; // lines besides the faces, two vertices each
  faces: Uint32Array;
}

export interface Body {
  name: string;
  first: number;
  count: number;
  fixed: boolean;
  stained: boolean; // friction leaves stains on it
  radius: number;
  edges: Uint32Array;
  triangles: Uint32Array;
  surface: Surface | null;
}

export interface Geometry {
  particles: number;
  system: boolean; // a system of equations: points without bodies
  bodies: Body[];
  pinned: Uint32Array;
  rest: Float32Array;
  series: Series | null; // of a finished run
}

export interface Frame {
  t: number;
  rate: number;
  historyFrom: number;
  historyTo: number;
  lanes: number;
  particles: number;
  past: boolean;
  sequence: number;
  epoch: number;
  telemetry: Float64Array[]; // per lane, in the order of State.telemetry
  positions: Float32Array[]; // per lane
  field: number; // index in State.fields, -1: none
  values: Float32Array[]; // of that field, per lane
  contacts: Float32Array[]; // places where surfaces touch, per lane
}

export type Command =
  | { do: "pause"; on: boolean }
  | { do: "step" | "reset" | "release" | "start_here" }
  | { do: "speed" | "stiffness" | "damping" | "step_size" | "tolerance" | "seek"; value: number }
  | { do: "pull"; particle: number; x: number; y: number; z: number }
  | { do: "integrator"; lane: number; name: string }
  | { do: "compare" | "field"; name: string };

/** Where frames come from: a server, or the report itself. */
export interface Source {
  send(command: Command): void;
  upload(name: string, bytes: ArrayBuffer): void;
}

export interface Listener {
  onState(state: State): void;
  onGeometry(geometry: Geometry): void;
  onFrame(frame: Frame): void;
  onConnection(connected: boolean): void;
  /** The server answers, but not to this page. */
  onRefused(): void;
}

const MAGIC = 0x474e5754;
const HEADER = 72;

type Range = [number, number];
interface RawBody {
  name: string;
  first: number;
  count: number;
  fixed: boolean;
  stained: boolean;
  radius: number;
  edges: Range;
  triangles: Range;
  surface?: { carriers: Range; weights: Range; edges: Range; faces: Range };
}

function readSurface(raw: RawBody["surface"], indices: (r: Range) => Uint32Array, numbers: (r: Range) => Float32Array) {
  if (!raw) return null;
  return { carriers: indices(raw.carriers), weights: numbers(raw.weights), edges: indices(raw.edges), faces: indices(raw.faces) };
}

function readGeometry(buffer: ArrayBuffer): Geometry {
  const size = new DataView(buffer).getUint32(12, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 16, size)));
  const begin = 16 + size;
  const indices = (r: Range) => new Uint32Array(buffer, begin + 4 * r[0], r[1]);
  const numbers = (r: Range) => new Float32Array(buffer, begin + 4 * r[0], r[1]);

  const bodies = (head.bodies as RawBody[]).map((raw) => ({
    ...raw,
    edges: indices(raw.edges),
    triangles: indices(raw.triangles),
    surface: readSurface(raw.surface, indices, numbers),
  }));
  return {
    particles: head.particles,
    system: head.system,
    bodies,
    pinned: indices(head.pinned),
    rest: numbers(head.rest),
    series: head.series ?? null,
  };
}

function readFrame(buffer: ArrayBuffer): Frame {
  const view = new DataView(buffer);
  const word = (i: number) => view.getUint32(4 * i, true);
  const lanes = word(4);
  const particles = word(5);
  const numbers = word(6);
  const flags = word(7);
  const time = (i: number) => view.getFloat64(40 + 8 * i, true);

  const telemetry: Float64Array[] = [];
  const positions: Float32Array[] = [];
  const values: Float32Array[] = [];
  let at = HEADER;
  for (let lane = 0; lane < lanes; lane++, at += 8 * numbers) telemetry.push(new Float64Array(buffer, at, numbers));
  for (let lane = 0; lane < lanes; lane++, at += 12 * particles)
    positions.push(new Float32Array(buffer, at, 3 * particles));
  for (let lane = 0; lane < lanes && flags & 1; lane++, at += 4 * particles)
    values.push(new Float32Array(buffer, at, particles));
  const contacts: Float32Array[] = [];
  for (let lane = 0; lane < lanes; lane++) {
    const count = view.getUint32(at, true);
    contacts.push(new Float32Array(buffer, at + 4, 3 * count));
    at += 4 + 12 * count;
  }

  return {
    t: time(0),
    rate: time(1),
    historyFrom: time(2),
    historyTo: time(3),
    lanes,
    particles,
    past: (flags & 2) !== 0,
    sequence: word(3),
    epoch: word(9),
    telemetry,
    positions,
    field: word(8) - 1,
    values,
    contacts,
  };
}

/** Reads a binary message and hands it to the listener. */
export function dispatch(buffer: ArrayBuffer, listener: Listener): void {
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== 1) return;
  if (view.getUint32(8, true) === 2) listener.onGeometry(readGeometry(buffer));
  else listener.onFrame(readFrame(buffer));
}
