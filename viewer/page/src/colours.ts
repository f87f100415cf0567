// Colour maps: a sequential one for magnitudes, a diverging one for strain. Both are readable for colour-blind people.

type Colour = [number, number, number];

// Eight samples of viridis (van der Walt and Smith), and a blue-white-red map.
const VIRIDIS: Colour[] = [
  [0.267, 0.005, 0.329],
  [0.275, 0.194, 0.496],
  [0.213, 0.359, 0.552],
  [0.153, 0.497, 0.558],
  [0.122, 0.632, 0.531],
  [0.29, 0.759, 0.428],
  [0.622, 0.854, 0.226],
  [0.993, 0.906, 0.144],
];
const DIVERGING: Colour[] = [
  [0.13, 0.32, 0.72],
  [0.38, 0.6, 0.88],
  [0.82, 0.86, 0.9],
  [0.93, 0.55, 0.38],
  [0.77, 0.12, 0.16],
];

/** Stains of friction: the colours that twang writes into PLY files, too. */
const STAIN: Colour[] = [
  [0, 0, 1],
  [0, 1, 1],
  [0, 1, 0],
  [1, 1, 0],
  [1, 0, 0],
];

const STEPS = 256;

function table(samples: Colour[]): Float32Array {
  const colours = new Float32Array(3 * STEPS);
  for (let i = 0; i < STEPS; i++) {
    const at = (i / (STEPS - 1)) * (samples.length - 1);
    const low = Math.min(Math.floor(at), samples.length - 2);
    for (let k = 0; k < 3; k++) {
      const value = samples[low][k] + (at - low) * (samples[low + 1][k] - samples[low][k]);
      colours[3 * i + k] = Math.pow(value, 2.2); // three.js wants linear light
    }
  }
  return colours;
}

export const sequential = table(VIRIDIS);
export const diverging = table(DIVERGING);
export const stain = table(STAIN);

/** The colours of a field. */
export function mapOf(mode: string): Float32Array {
  if (mode === "strain") return diverging;
  return mode === "wear" ? stain : sequential;
}

/** A value per particle, and how values become colours. */
export interface Paint {
  values: Float32Array;
  low: number;
  high: number;
  map: Float32Array;
}

/** Writes the colour of a value. */
export function paintValue(p: Paint, value: number, out: Float32Array, at: number): void {
  paint(p.map, (value - p.low) / (p.high - p.low || 1), out, at);
}

/** Writes the colour of a share 0..1 of the map. */
function paint(map: Float32Array, share: number, out: Float32Array, at: number): void {
  const clamped = share > 0 ? (share < 1 ? share : 1) : 0;
  const entry = 3 * Math.round(clamped * (STEPS - 1));
  out[at] = map[entry];
  out[at + 1] = map[entry + 1];
  out[at + 2] = map[entry + 2];
}

/** The map as a CSS gradient, for the legend. */
export function gradient(map: Float32Array): string {
  const stops = [];
  for (let i = 0; i <= 12; i++) {
    const entry = 3 * Math.round((i / 12) * (STEPS - 1));
    const [r, g, b] = [0, 1, 2].map((k) => Math.round(255 * Math.pow(map[entry + k], 1 / 2.2)));
    stops.push(`rgb(${r},${g},${b})`);
  }
  return `linear-gradient(90deg, ${stops.join(",")})`;
}
