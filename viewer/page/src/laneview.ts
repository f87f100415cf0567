// What is drawn of one simulation: its bodies, their colours, and marks.
import * as THREE from "three";
import type { Paint } from "./colours";
import type { Geometry } from "./protocol";
import { ballShape, edgesOf, surfaceShape, tubeShape, type Shape } from "./shape";
import type { Strain } from "./strain";

/** Smallest drawn radius of tubes, as a share of the scene's size: thin fibres stay visible. */
const THINNEST = 0.0016;
const PIN = 0xffc53d;
const MARK = 0xff3355;
const MOST_PINS = 400;
const CONTACT = 0xff7a1a;
const MOST_CONTACTS = 512;

export class LaneView {
  readonly group = new THREE.Group();
  positions: Float32Array = new Float32Array(0);
  private readonly shapes: Shape[] = [];
  private readonly contacts: THREE.InstancedMesh[];
  private readonly mark: THREE.Mesh;
  private readonly pull: Pull;

  constructor(geometry: Geometry, size: number) {
    let thickest = 0; // of the tubes
    geometry.bodies.forEach((body, index) => {
      const faces = body.surface ? body.surface.faces : body.triangles;
      const lines = edgesOf(body).length / 2;
      const radius = Math.max(body.radius, THINNEST * size * thickening(lines));
      if (faces.length > 0) this.add(surfaceShape(body, index));
      else if (lines > 0) {
        this.add(tubeShape(body, index, radius));
        thickest = Math.max(thickest, radius);
      }
    });
    if (geometry.bodies.length === 0) this.add(ballShape(all(geometry.particles), 0.02 * size, 0x3f8efc));

    const pinRadius = Math.max(0.007 * size, 1.6 * thickest); // tubes do not hide them
    if (hasDrawnPins(geometry)) this.add(ballShape(pinsOfBodies(geometry), pinRadius, PIN));
    this.contacts = newContacts(size);
    this.group.add(...this.contacts);
    this.mark = newMark(size);
    this.pull = new Pull(size);
    this.group.add(this.mark, this.pull.group);
  }

  private add(shape: Shape): void {
    this.shapes.push(shape);
    this.group.add(shape.object);
  }

  move(positions: Float32Array): void {
    this.positions = positions;
    for (const shape of this.shapes) shape.move(positions);
  }

  /** Paints a value per particle; null: the bodies' own colours. */
  paint(paint: Paint | null): void {
    for (const shape of this.shapes) shape.colour(paint);
  }

  wireframe(on: boolean): void {
    for (const shape of this.shapes) shape.wireframe(on);
  }

  /** Draws balls where surfaces touch. */
  showContacts(places: Float32Array | undefined): void {
    const count = Math.min(MOST_CONTACTS, (places?.length ?? 0) / 3);
    const at = new THREE.Matrix4();
    for (const balls of this.contacts) {
      balls.count = count;
      balls.visible = count > 0;
      for (let i = 0; i < count; i++) balls.setMatrixAt(i, at.makeTranslation(places![3 * i], places![3 * i + 1], places![3 * i + 2]));
      balls.instanceMatrix.needsUpdate = true;
    }
  }

  /** Marks a particle; -1: none. */
  markParticle(particle: number): void {
    this.mark.visible = particle >= 0 && 3 * particle + 2 < this.positions.length;
    if (this.mark.visible) this.mark.position.fromArray(this.positions, 3 * particle);
  }

  /** Draws the pull from a particle to a point; null: none. */
  showPull(particle: number, target: THREE.Vector3 | null): void {
    const isShown = target !== null && 3 * particle + 2 < this.positions.length;
    this.pull.group.visible = isShown;
    if (isShown) this.pull.place(new THREE.Vector3().fromArray(this.positions, 3 * particle), target!);
  }

  dispose(): void {
    for (const shape of this.shapes) shape.dispose();
    for (const balls of this.contacts) balls.dispose();
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

/** Whether the held particles are drawn: there are some, and few enough to look at. */
export function hasDrawnPins(geometry: Geometry): boolean {
  const { length } = pinsOfBodies(geometry);
  return length > 0 && length <= MOST_PINS;
}

/** Balls where surfaces touch, drawn twice: bright where they are in sight, faint through what hides them. */
function newContacts(size: number): THREE.InstancedMesh[] {
  const ball = new THREE.SphereGeometry(0.004 * size, 10, 8);
  return [{ depthTest: false, opacity: 0.22 }, { depthTest: true, opacity: 1 }].map((way) => {
    const mesh = new THREE.InstancedMesh(ball, new THREE.MeshBasicMaterial({ color: CONTACT, transparent: true, ...way }), MOST_CONTACTS);
    mesh.frustumCulled = false;
    mesh.renderOrder = 8;
    mesh.visible = false;
    return mesh;
  });
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

/** The pull: a ball at the particle, a larger one at the hand, and a rod between them. */
class Pull {
  readonly group = new THREE.Group();
  private readonly rod: THREE.Mesh;
  private readonly grip: THREE.Mesh;
  private readonly hand: THREE.Mesh;

  constructor(size: number) {
    const look = new THREE.MeshBasicMaterial({ color: PIN, depthTest: false, transparent: true, opacity: 0.9 });
    const radius = 0.0035 * size;
    const tube = new THREE.CylinderGeometry(radius, radius, 1, 10).rotateX(Math.PI / 2); // along z
    this.rod = new THREE.Mesh(tube, look);
    this.grip = new THREE.Mesh(new THREE.SphereGeometry(2 * radius, 16, 12), look);
    this.hand = new THREE.Mesh(new THREE.SphereGeometry(3.5 * radius, 20, 14), look);
    this.group.add(this.rod, this.grip, this.hand);
    for (const part of this.group.children) part.renderOrder = 9;
    this.group.visible = false;
  }

  place(particle: THREE.Vector3, target: THREE.Vector3): void {
    this.grip.position.copy(particle);
    this.hand.position.copy(target);
    this.rod.position.copy(particle).add(target).multiplyScalar(0.5);
    this.rod.lookAt(target);
    this.rod.scale.z = Math.max(particle.distanceTo(target), 1e-12);
  }
}

/** Chooses the values to paint: strain, the field of the frame, or none. */
export function valuesOf(mode: string, strain: Strain | null, positions: Float32Array, field: Float32Array | undefined) {
  if (mode === "") return null;
  if (mode === "strain") return strain ? strain.compute(positions) : null;
  return field ?? null;
}
