// Dragging a particle: the pull follows the pointer in the plane through the particle that faces the camera.
import * as THREE from "three";
import type { Geometry, Source } from "./protocol";
import type { Stage } from "./stage";

/** A particle is taken if it is at most so far from the pointer [pixels]. */
const REACH = 22;

export class Drag {
  particle = -1;
  enabled = false;
  target = new THREE.Vector3();
  private held = new Set<number>();
  private pointer = -1;
  private lane = 0;
  private readonly plane = new THREE.Plane();
  private waiting = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly stage: Stage,
    private readonly source: () => Source,
  ) {
    // Before the orbit controls see it.
    canvas.addEventListener("pointerdown", (e) => this.begin(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const name of ["pointerup", "pointercancel"] as const)
      canvas.addEventListener(name, (e) => e.pointerId === this.pointer && this.release());
  }

  open(geometry: Geometry): void {
    this.held = new Set(geometry.pinned);
    this.particle = -1;
  }

  /** The rectangle of a lane in the page, and the pointer in it from -1 to 1. */
  private place(e: PointerEvent): { lane: number; at: THREE.Vector2; width: number; height: number } {
    const box = this.canvas.getBoundingClientRect();
    const count = Math.max(1, this.stage.lanes.length);
    const width = box.width / count;
    const lane = Math.min(count - 1, Math.max(0, Math.floor((e.clientX - box.left) / width)));
    const x = (2 * (e.clientX - box.left - lane * width)) / width - 1;
    const y = 1 - (2 * (e.clientY - box.top)) / box.height;
    return { lane, at: new THREE.Vector2(x, y), width, height: box.height };
  }

  /** The free particle nearest to the pointer, in front of others at the same distance; -1: none. */
  private pick(e: PointerEvent): number {
    const { lane, at, width, height } = this.place(e);
    const x = this.stage.lanes[lane]?.positions ?? new Float32Array(0);
    const point = new THREE.Vector3();
    let best = -1;
    let least = Infinity;
    for (let p = 0; 3 * p < x.length; p++) {
      if (this.held.has(p)) continue;
      point.fromArray(x, 3 * p).project(this.stage.camera);
      const distance = Math.hypot(((point.x - at.x) * width) / 2, ((point.y - at.y) * height) / 2);
      if (distance > REACH || Math.abs(point.z) > 1) continue;
      const depth = point.fromArray(x, 3 * p).distanceTo(this.stage.camera.position) / this.stage.size;
      const rank = distance / REACH + 4 * depth;
      if (rank < least) {
        least = rank;
        best = p;
      }
    }
    this.lane = lane;
    return best;
  }

  private begin(e: PointerEvent): void {
    if (!this.enabled || e.button !== 0 || e.shiftKey || e.altKey || this.particle >= 0) return;
    const particle = this.pick(e);
    if (particle < 0) return;
    e.stopImmediatePropagation();
    e.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(e.pointerId);
    this.pointer = e.pointerId;
    this.take(particle);
  }

  /** Takes a particle where it is. */
  take(particle: number): void {
    const x = this.stage.lanes[this.lane]?.positions;
    if (!x || 3 * particle + 2 >= x.length) return;
    this.particle = particle;
    this.target.fromArray(x, 3 * particle);
    const normal = this.stage.camera.getWorldDirection(new THREE.Vector3());
    this.plane.setFromNormalAndCoplanarPoint(normal, this.target);
    this.send();
  }

  /** The free particle nearest to the middle of the view, for the keyboard. */
  takeMiddle(): void {
    const box = this.canvas.getBoundingClientRect();
    const reach = Math.max(box.width, box.height);
    const x = this.stage.lanes[0]?.positions ?? new Float32Array(0);
    const point = new THREE.Vector3();
    let best = -1;
    let least = Infinity;
    for (let p = 0; 3 * p < x.length; p++) {
      if (this.held.has(p)) continue;
      point.fromArray(x, 3 * p).project(this.stage.camera);
      const rank = Math.hypot(point.x, point.y) * reach;
      if (rank < least) [least, best] = [rank, p];
    }
    this.lane = 0;
    if (this.enabled && best >= 0) this.take(best);
  }

  /** Moves the target by shares of the scene's size, across the view. */
  nudge(right: number, up: number): void {
    const x = new THREE.Vector3().setFromMatrixColumn(this.stage.camera.matrix, 0);
    const y = new THREE.Vector3().setFromMatrixColumn(this.stage.camera.matrix, 1);
    this.target.addScaledVector(x, right * this.stage.size).addScaledVector(y, up * this.stage.size);
    this.send();
  }

  private move(e: PointerEvent): void {
    if (e.pointerId !== this.pointer || this.particle < 0) {
      this.canvas.style.cursor = this.enabled && e.buttons === 0 && this.pick(e) >= 0 ? "grab" : "";
      return;
    }
    const ray = new THREE.Raycaster();
    ray.setFromCamera(this.place(e).at, this.stage.camera);
    const hit = ray.ray.intersectPlane(this.plane, new THREE.Vector3());
    if (!hit) return;
    this.target.copy(hit);
    this.send();
  }

  /** At most one message per drawn frame. */
  private send(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.particle < 0) return;
      const { x, y, z } = this.target;
      this.source().send({ do: "pull", particle: this.particle, x, y, z });
      this.stage.touch();
    });
  }

  release(): void {
    if (this.particle < 0) return;
    this.particle = -1;
    this.pointer = -1;
    this.source().send({ do: "release" });
    this.stage.touch();
  }

  /** Draws the pull in every lane. */
  show(): void {
    for (const lane of this.stage.lanes) lane.showPull(this.particle, this.particle >= 0 ? this.target : null);
  }
}
