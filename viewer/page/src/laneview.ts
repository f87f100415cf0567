// What is drawn of one simulation: its bodies, their colours, and marks.
import * as THREE from "three";
import { paint, stain } from "./colours";
import type { Geometry } from "./protocol";
import { ballShape, surfaceShape, tubeShape, type Shape } from "./shape";
import type { Strain } from "./strain";

/** Smallest drawn radius of tubes, as a share of the scene's size: thin fibres stay visible. */
const THINNEST = 0.0016;
const PIN = 0xffc53d;
const MARK = 0xff3355;
const MOST_PINS = 400;
const CONTACT = 0xff7a1a;
const MOST_CONTACTS = 512;

export interface Range {
  low: number;
  high: number;
}

export class LaneView {
  readonly group = new THREE.Group();
  positions: Float32Array = new Float32Array(0);
  private readonly shapes: Shape[] = [];
  private readonly colours: Float32Array;
  private readonly contacts: THREE.InstancedMesh;
  private readonly mark: THREE.Mesh;
  private readonly rope: THREE.Line;

  constructor(geometry: Geometry, size: number) {
    this.colours = new Float32Array(3 * geometry.particles);
    geometry.bodies.forEach((body, index) => {
      const has = body.surface !== null || body.triangles.length > 0;
      const radius = Math.max(body.radius, THINNEST * size * thickening(body.edges.length / 2));
      if (has) this.add(surfaceShape(body, index));
      else if (body.edges.length > 0) this.add(tubeShape(body, index, radius));
    });
    if (geometry.bodies.length === 0) this.add(ballShape(all(geometry.particles), 0.02 * size, 0x3f8efc));

    const held = pinsOfBodies(geometry);
    if (held.length > 0 && held.length <= MOST_PINS) this.add(ballShape(held, 0.007 * size, PIN));
    this.contacts = newContacts(size);
    this.group.add(this.contacts);
    this.mark = newMark(size);
    this.rope = newRope();
    this.group.add(this.mark, this.rope);
  }

  private add(shape: Shape): void {
    this.shapes.push(shape);
    this.group.add(shape.object);
  }

  move(positions: Float32Array): void {
    this.positions = positions;
    for (const shape of this.shapes) shape.move(positions);
  }

  /** Paints a value per particle; null: the bodies' own colours. Stains are painted on what is stained. */
  paint(values: Float32Array | null, range: Range, map: Float32Array): void {
    const span = range.high - range.low || 1;
    if (values)
      for (let p = 0; p < values.length; p++) paint(map, (values[p] - range.low) / span, this.colours, 3 * p);
    for (const shape of this.shapes) shape.colour(values ? this.colours : null, map === stain);
  }

  wireframe(on: boolean): void {
    for (const shape of this.shapes) shape.wireframe(on);
  }

  /** Draws balls where surfaces touch. */
  showContacts(places: Float32Array | undefined): void {
    const count = Math.min(MOST_CONTACTS, (places?.length ?? 0) / 3);
    this.contacts.count = count;
    this.contacts.visible = count > 0;
    if (count === 0) return;
    const at = new THREE.Matrix4();
    for (let i = 0; i < count; i++) this.contacts.setMatrixAt(i, at.makeTranslation(places![3 * i], places![3 * i + 1], places![3 * i + 2]));
    this.contacts.instanceMatrix.needsUpdate = true;
  }

  /** Marks a particle; -1: none. */
  markParticle(particle: number): void {
    this.mark.visible = particle >= 0 && 3 * particle + 2 < this.positions.length;
    if (this.mark.visible) this.mark.position.fromArray(this.positions, 3 * particle);
  }

  /** Draws the pull from a particle to a point; null: none. */
  showPull(particle: number, target: THREE.Vector3 | null): void {
    this.rope.visible = target !== null && 3 * particle + 2 < this.positions.length;
    if (!this.rope.visible) return;
    const line = this.rope.geometry.getAttribute("position") as THREE.BufferAttribute;
    line.setXYZ(0, this.positions[3 * particle], this.positions[3 * particle + 1], this.positions[3 * particle + 2]);
    line.setXYZ(1, target!.x, target!.y, target!.z);
    line.needsUpdate = true;
  }

  dispose(): void {
    for (const shape of this.shapes) shape.dispose();
    this.group.removeFromParent();
  }
}

/** The fewer lines there are, the thicker they may be. */
function thickening(edges: number): number {
  if (edges > 2000) return 0.6;
  return edges > 200 ? 2.5 : 4.5;
}

function all(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => i);
}

/** The held particles of bodies that can move; obstacles are held altogether. */
function pinsOfBodies(geometry: Geometry): Uint32Array {
  const moving = geometry.bodies.filter((b) => !b.fixed);
  return geometry.pinned.filter((p) => moving.some((b) => p >= b.first && p < b.first + b.count));
}

/** Balls that are seen through what touches. */
function newContacts(size: number): THREE.InstancedMesh {
  const look = new THREE.MeshBasicMaterial({ color: CONTACT, depthTest: false, transparent: true, opacity: 0.85 });
  const mesh = new THREE.InstancedMesh(new THREE.SphereGeometry(0.005 * size, 8, 6), look, MOST_CONTACTS);
  mesh.frustumCulled = false;
  mesh.renderOrder = 8;
  mesh.visible = false;
  return mesh;
}

function newMark(size: number): THREE.Mesh {
  const mark = new THREE.Mesh(
    new THREE.SphereGeometry(0.018 * size, 20, 14),
    new THREE.MeshBasicMaterial({ color: MARK, transparent: true, opacity: 0.75, depthTest: false }),
  );
  mark.renderOrder = 10;
  mark.visible = false;
  return mark;
}

function newRope(): THREE.Line {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3));
  const rope = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: PIN, depthTest: false }));
  rope.frustumCulled = false;
  rope.renderOrder = 9;
  rope.visible = false;
  return rope;
}

/** Chooses the values to paint: strain, the field of the frame, or none. */
export function valuesOf(mode: string, strain: Strain | null, positions: Float32Array, field: Float32Array | undefined) {
  if (mode === "") return null;
  if (mode === "strain") return strain ? strain.compute(positions) : null;
  return field ?? null;
}
