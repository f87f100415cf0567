// Strain of what is drawn: the relative change of length of every edge since t = 0, averaged at the particles.
import type { Geometry } from "./protocol";

export class Strain {
  private readonly edges: Uint32Array;
  private readonly lengths: Float32Array;
  private readonly degree: Float32Array;
  readonly values: Float32Array;

  constructor(geometry: Geometry) {
    const seen = new Set<number>();
    const edges: number[] = [];
    const add = (a: number, b: number) => {
      const key = Math.min(a, b) * geometry.particles + Math.max(a, b);
      if (a === b || seen.has(key)) return;
      seen.add(key);
      edges.push(a, b);
    };
    for (const body of geometry.bodies) {
      if (body.fixed) continue;
      for (let i = 0; i < body.edges.length; i += 2) add(body.edges[i], body.edges[i + 1]);
      const t = body.triangles;
      for (let i = 0; i < t.length; i++) add(t[i], t[i % 3 === 2 ? i - 2 : i + 1]);

      // Lines whose points are carried: the particles of one end are joined with those of the other.
      const { edges: lines, carriers } = body.surface ?? { edges: [], carriers: [] };
      for (let i = 0; i < lines.length && t.length === 0; i += 2)
        for (let c = 0; c < 4; c++) add(carriers[4 * lines[i] + c], carriers[4 * lines[i + 1] + c]);
    }

    this.edges = Uint32Array.from(edges);
    this.lengths = new Float32Array(edges.length / 2);
    this.degree = new Float32Array(geometry.particles);
    this.values = new Float32Array(geometry.particles);
    for (let i = 0; i < this.lengths.length; i++) {
      this.lengths[i] = this.distance(geometry.rest, i);
      this.degree[this.edges[2 * i]]++;
      this.degree[this.edges[2 * i + 1]]++;
    }
  }

  private distance(x: Float32Array, edge: number): number {
    const a = 3 * this.edges[2 * edge];
    const b = 3 * this.edges[2 * edge + 1];
    const dx = x[a] - x[b], dy = x[a + 1] - x[b + 1], dz = x[a + 2] - x[b + 2];
    return Math.sqrt(dx * dx + dy * dy + dz * dz);
  }

  /** The strain at every particle; the array is used again by the next call. */
  compute(x: Float32Array): Float32Array {
    const values = this.values.fill(0);
    for (let i = 0; i < this.lengths.length; i++) {
      if (this.lengths[i] === 0) continue;
      const strain = this.distance(x, i) / this.lengths[i] - 1;
      values[this.edges[2 * i]] += strain;
      values[this.edges[2 * i + 1]] += strain;
    }
    for (let p = 0; p < values.length; p++) if (this.degree[p] > 0) values[p] /= this.degree[p];
    return values;
  }
}
