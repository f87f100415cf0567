// run.json in plain English: what each of its keys is called in a report, and its unit.
import { shortNumber } from "./charts";

/** A row of a table: what it is called, its value, and the key of run.json that it comes from. */
export interface Row {
  label: string;
  value: string;
  key?: string;
}

const LABELS: { [key: string]: [label: string, unit?: string] } = {
  name: ["scene"],
  status: ["how it ended"],
  status_code: ["status code"],
  reason: ["why it ended so"],
  integrator: ["integrator"],
  integrator_chosen: ["why this integrator was chosen"],
  phi: ["engine of the phi-functions, as the scene says"],
  phi_engine: ["engine of the phi-functions, as used"],
  wall_seconds: ["time it took", "s"],
  simulated_seconds: ["simulated time", "s"],
  duration: ["time to simulate", "s"],
  real_time_factor: ["simulated seconds per second"],
  step: ["step", "s"],
  rtol: ["relative tolerance"],
  steps: ["steps"],
  rejected_steps: ["steps that were repeated because they were too inaccurate"],
  force_evaluations: ["evaluations of the force"],
  difference_evaluations: ["evaluations of the force for difference quotients"],
  stiffness_products: ["products with the stiffness matrix"],
  linearizations: ["linearisations"],
  newton_iterations: ["Newton iterations"],
  stalled_stages: ["stages in which Newton's method came no further"],
  buckled_stages: ["stages that ended with few digits, because a sheet buckles"],
  solves: ["linear systems solved"],
  factorizations: ["matrices factorised"],
  frames: ["frames"],
  peak_memory_bytes: ["largest memory", "MB"],
  energy_at: ["where in a step the energies are taken"],
  energy_start: ["energy at the start", "J"],
  energy_end: ["energy at the end", "J"],
  damping_work: ["work of damping", "J"],
  outside_work: ["work from outside", "J"],
  contact_work: ["work of contact", "J"],
  friction_work: ["work of friction", "J"],
  plastic_work: ["work of plastic flow", "J"],
  energy_error_max: ["largest energy error", "J"],
  energy_unresolved: ["energy of vibrations that the steps do not resolve", "J"],
  energy_drift_max: ["largest energy error, as a share of the energy converted"],
  kinetic_resolved: ["largest kinetic energy that the stages have shown", "J"],
  energy_verdict: ["was the energy kept?"],
  resumed_at: ["resumed at", "s"],
  threads: ["threads"],
  version: ["version of Twang"],
};

/** The scene's own tests: those whose names are no keys of run.json. */
const TEST_LABELS: { [name: string]: string } = {
  steps_max: "steps, at most",
  displacement_min: "largest way of a particle from its start, at least [m]",
};

const BYTES_PER_MEGABYTE = 1e6;

function labelOf(key: string): string {
  return LABELS[key]?.[0] ?? TEST_LABELS[key] ?? key.replaceAll("_", " ");
}

function textOf(key: string, value: unknown): string {
  const unit = LABELS[key]?.[1];
  if (typeof value !== "number") return typeof value === "object" ? JSON.stringify(value) : String(value);
  if (unit === "MB") return `${shortNumber(value / BYTES_PER_MEGABYTE)} MB`;
  return (Number.isInteger(value) ? String(value) : shortNumber(value)) + (unit ? ` ${unit}` : "");
}

/** Whether a value says something: not null, and no empty list, map or text. */
function isTold(value: unknown): boolean {
  if (value === null || value === "") return false;
  return typeof value !== "object" || Object.keys(value as object).length > 0;
}

/** The rows of the run's table. */
export function recordRows(run: { [key: string]: unknown }): Row[] {
  const told = Object.entries(run).filter(([key, value]) => key !== "tests" && isTold(value));
  return told.map(([key, value]) => ({ label: labelOf(key), value: textOf(key, value), key }));
}

interface Test {
  name: string;
  value: number | null;
  expected: number | null;
  passed: boolean;
}

/** What the tests in the scene say of the run. */
export function testRows(run: { [key: string]: unknown }): Row[] {
  const tests = Array.isArray(run.tests) ? (run.tests as Test[]).filter((test) => typeof test?.name === "string") : [];
  const number = (value: number | null) => shortNumber(value ?? NaN);
  return tests.map(({ name, value, expected, passed }) => ({
    label: labelOf(name),
    value: `${number(value)}, expected ${number(expected)}: ${passed ? "passed" : "failed"}`,
    key: name,
  }));
}
