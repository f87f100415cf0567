// The stage: camera, light, and one or two simulations side by side.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { LaneView, valuesOf } from "./laneview";
import { diverging, mapOf } from "./colours";
import type { Body, Frame, Geometry } from "./protocol";
import { isFloor } from "./floor";
import { Strain } from "./strain";

/** The range of colours follows the values: up at once, down by this share per frame. */
const RANGE_DECAY = 0.02;
/** The range ends at this share of the values that are not 0: a few large ones must not make all others pale. */
const RANGE_SHARE = 0.98;
/** At most so many values are looked at for the range. */
const RANGE_SAMPLES = 3000;

/** Ways to draw, from fine to coarse: pixels drawn per pixel of the page, which smooths edges, and how many pictures
 * share one map of shadows. */
const QUALITIES = [
  { pixels: 2, shared: 1 },
  { pixels: 1.4, shared: 1 },
  { pixels: 1, shared: 1 },
  { pixels: 0.7, shared: 3 },
  { pixels: 0.5, shared: 8 },
];
const FINEST = 0;
const FIRST = 2; // the first picture must come soon
/** While things move, turns of the browser that take longer than this [ms] ask for coarser pictures ... */
const SLOW_TURN = 40;
/** ... and turns that take less [ms] allow finer ones. */
const FAST_TURN = 20;
/** So many turns are averaged. */
const TURNS = 12;
/** When nothing has changed for this time [ms], the picture is drawn finely. */
const REST = 500;
/** More pixels per pixel of the page are not drawn. */
const MOST_PIXELS = 3;

/** Obstacles are framed up to this size, as a share of that of the moving bodies. */
const LARGE_OBSTACLE = 1.5;
/** What is framed stays within this share of the view. */
const SEEN_SHARE = 0.92;

interface Range {
  low: number;
  high: number;
}

interface Bounds {
  box: THREE.Box3;
  centre: THREE.Vector3;
  size: number;
  lowest: number;
}

/** What hangs by a pin swings: through these places, below the pin, and to its other side. */
function addSwing(box: THREE.Box3, x: Float32Array, body: Body, pinned: Uint32Array): void {
  const pins = pinned.filter((p) => p >= body.first && p < body.first + body.count);
  if (pins.length === 0 || pins.length > 8) return;
  const pin = new THREE.Vector3().fromArray(x, 3 * pins[0]);
  const point = new THREE.Vector3();
  let reach = 0;
  for (let p = body.first; p < body.first + body.count; p++) {
    reach = Math.max(reach, point.fromArray(x, 3 * p).distanceTo(pin));
    box.expandByPoint(point);
    box.expandByPoint(point.set(2 * pin.x - point.x, 2 * pin.y - point.y, point.z));
  }
  box.expandByPoint(point.set(pin.x, pin.y, pin.z - reach));
}

/** The box of a body's particles. */
function boxOf(x: Float32Array, body: Body): THREE.Box3 {
  const box = new THREE.Box3();
  const point = new THREE.Vector3();
  for (let p = body.first; p < body.first + body.count; p++) box.expandByPoint(point.fromArray(x, 3 * p));
  return box;
}

/** Adds obstacles that are not much larger than what moves: a ball on which something falls, not the ground. */
function addObstacles(box: THREE.Box3, x: Float32Array, geometry: Geometry): void {
  const size = box.getSize(new THREE.Vector3()).length();
  for (const body of geometry.bodies.filter((b) => b.fixed && !isFloor(b))) {
    const own = boxOf(x, body);
    if (own.getSize(new THREE.Vector3()).length() < LARGE_OBSTACLE * size) box.union(own);
  }
}

function boundsOf(x: Float32Array, geometry: Geometry): Bounds {
  // Planes may be much larger than the bodies: they are not framed.
  const bodies = geometry.bodies.filter((b) => !b.fixed);
  const box = new THREE.Box3();
  const point = new THREE.Vector3();
  const add = (p: number) => box.expandByPoint(point.fromArray(x, 3 * p));
  for (const body of bodies) for (let p = body.first; p < body.first + body.count; p++) add(p);
  if (bodies.length === 0) for (let p = 0; p < geometry.particles; p++) add(p);
  for (const body of bodies) {
    if (body.triangles.length > 0) continue;
    addSwing(box, x, body, geometry.pinned);
    addSwing(box, geometry.rest, body, geometry.pinned);
  }
  addObstacles(box, x, geometry);
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const size = box.getSize(point).length() || 1;
  return { box, centre: box.getCenter(new THREE.Vector3()), size, lowest: box.min.z };
}

/** How far from the centre a camera in this direction sees the whole box: slope is that of the upper edge of its view,
 * and width that of the view, as a share of its height. */
function distanceToSee(bounds: Bounds, direction: THREE.Vector3, slope: number, width: number): number {
  const right = new THREE.Vector3(0, 0, 1).cross(direction).normalize();
  const up = new THREE.Vector3().crossVectors(direction, right);
  const { min, max } = bounds.box;
  let distance = 0;
  for (let corner = 0; corner < 8; corner++) {
    const point = new THREE.Vector3(corner & 1 ? max.x : min.x, corner & 2 ? max.y : min.y, corner & 4 ? max.z : min.z);
    point.sub(bounds.centre);
    const across = Math.max(Math.abs(point.dot(up)), Math.abs(point.dot(right)) / Math.max(width, 1e-3));
    distance = Math.max(distance, point.dot(direction) + across / (SEEN_SHARE * slope));
  }
  return distance;
}

/** The size of the values at RANGE_SHARE of those that are not 0. */
function largeValue(values: Float32Array): number {
  const stride = Math.max(1, Math.floor(values.length / RANGE_SAMPLES));
  const sizes: number[] = [];
  for (let i = 0; i < values.length; i += stride) if (values[i] !== 0) sizes.push(Math.abs(values[i]));
  sizes.sort((a, b) => a - b);
  return sizes.length > 0 ? sizes[Math.ceil(RANGE_SHARE * (sizes.length - 1))] : 0;
}

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(36, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  lanes: LaneView[] = [];
  range: Range = { low: 0, high: 1 };
  size = 1;
  onRange: (range: Range, map: Float32Array) => void = () => {};
  /** Called once, when the first frame is on the screen. */
  onFirst: () => void = () => {};

  private readonly scene = new THREE.Scene();
  private readonly sun = new THREE.DirectionalLight(0xfff3e2, 2.9);
  private readonly back = new THREE.DirectionalLight(0x9fc0ff, 1.1); // from behind: edges stand out
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x56607a, 1.5);
  private readonly floor: THREE.Mesh;
  private grid: THREE.GridHelper | null = null;
  private geometry: Geometry | null = null;
  private strain: Strain | null = null;
  private mode = "";
  private wire = false;
  private contacts = true;
  private dark = true;
  private frame: Frame | null = null;
  private isDirty = true;
  private isFramed = false;
  private hasPlane = false;
  private lowest = 0;
  /** Pictures for a film are drawn finely, however long they take. */
  isFilm = false;
  private pictures = 0;
  private quality = FIRST; // of what moves
  private finest = FINEST; // that is not known to be too slow
  private drawnQuality = FIRST;
  private turns = 0; // of the browser, since the quality changed
  private turnLength = 0; // averaged [ms]
  private lastTurn = 0; // when it was [ms]
  private lastChange = 0;
  /** When the first frame was on the screen, since the page was opened [ms]; 0: not yet. */
  firstDrawn = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, alpha: true, preserveDrawingBuffer: true });
    this.renderer.debug.checkShaderErrors = false; // asking for errors waits for the compiler
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.setScissorTest(true);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => (this.isDirty = true));

    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.radius = 2.5;
    this.floor = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.28 }));
    this.floor.receiveShadow = true;
    this.scene.add(this.sun, this.sun.target, this.back, this.back.target, this.sky, this.floor);
  }

  /** Another scene. */
  open(geometry: Geometry): void {
    this.close();
    this.geometry = geometry;
    this.strain = null;
    this.quality = FIRST;
    this.finest = FINEST;
    this.turns = 0;
    this.isFramed = false;
    this.frame = null;
    this.hasPlane = geometry.bodies.some((b) => b.fixed);
    this.range = { low: 0, high: 0 };
  }

  private close(): void {
    for (const lane of this.lanes) lane.dispose();
    this.lanes = [];
    this.geometry = null;
  }

  show(frame: Frame): void {
    if (!this.geometry || frame.particles !== this.geometry.particles) return;
    this.frame = frame;
    const isNew = !this.isFramed;
    if (isNew) this.prepare(frame.positions[0]);
    const before = this.lanes.length;
    while (this.lanes.length > frame.lanes) this.lanes.pop()!.dispose();
    while (this.lanes.length < frame.lanes) this.addLane();
    if (isNew || before !== frame.lanes) this.frameAll();
    this.lanes.forEach((lane, i) => {
      lane.move(frame.positions[i]);
      lane.showContacts(this.contacts ? frame.contacts[i] : undefined);
    });
    this.paint();
    this.isDirty = true;
  }

  private addLane(): void {
    const lane = new LaneView(this.geometry!, this.size);
    lane.wireframe(this.wire);
    this.lanes.push(lane);
    this.scene.add(lane.group);
  }

  private paint(): void {
    if (this.mode === "strain" && !this.geometry!.system) this.strain ??= new Strain(this.geometry!);
    const values = this.lanes.map((lane, i) => {
      const chosen = valuesOf(this.mode, this.strain, lane.positions, this.frame!.values[i]);
      return chosen && this.lanes.length > 1 ? chosen.slice() : chosen;
    });
    const map = mapOf(this.mode);
    this.follow(values, map === diverging);
    this.lanes.forEach((lane, i) => {
      const list = values[i];
      lane.paint(list && { values: list, map, ...this.range });
    });
    this.onRange(this.range, map);
  }

  /** Lets the range of colours follow the values. */
  private follow(values: (Float32Array | null)[], signed: boolean): void {
    let high = 0;
    for (const list of values) if (list) high = Math.max(high, largeValue(list));
    const kept = (1 - RANGE_DECAY) * this.range.high;
    high = Math.max(high, kept, 1e-12);
    this.range = { low: signed ? -high : 0, high };
  }

  colourBy(mode: string): void {
    this.mode = mode;
    this.range = { low: 0, high: 0 };
    if (this.frame) this.show(this.frame);
  }

  wireframe(on: boolean): void {
    this.wire = on;
    for (const lane of this.lanes) lane.wireframe(on);
    this.isDirty = true;
  }

  showContacts(on: boolean): void {
    this.contacts = on;
    if (this.frame) this.show(this.frame);
  }

  setTheme(dark: boolean): void {
    this.dark = dark;
    this.sky.intensity = dark ? 0.85 : 1.5;
    this.sky.groundColor.set(dark ? 0x2a3146 : 0x8a90a0);
    (this.floor.material as THREE.ShadowMaterial).opacity = dark ? 0.45 : 0.22;
    this.drawGrid();
    this.isDirty = true;
  }

  /** Light, floor and camera for a scene of this size. */
  private prepare(x: Float32Array): void {
    const bounds = boundsOf(x, this.geometry!);
    this.size = bounds.size;
    this.lowest = bounds.lowest;
    const s = bounds.size;
    this.sun.target.position.copy(bounds.centre);
    this.sun.position.copy(bounds.centre).add(new THREE.Vector3(0.7 * s, -1.1 * s, 1.9 * s));
    this.back.target.position.copy(bounds.centre);
    this.back.position.copy(bounds.centre).add(new THREE.Vector3(-1.4 * s, 1.2 * s, 0.9 * s));
    const box = this.sun.shadow.camera;
    box.left = box.bottom = -1.3 * s;
    box.right = box.top = 1.3 * s;
    box.near = 0.05 * s;
    box.far = 6 * s;
    box.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.002 * s;
    this.floor.position.set(bounds.centre.x, bounds.centre.y, bounds.lowest - 0.02 * s);
    this.floor.scale.setScalar(8 * s);
    this.floor.visible = !this.hasPlane && this.sun.castShadow;
    this.drawGrid();
    this.isFramed = true;
  }

  private drawGrid(): void {
    if (this.grid) this.grid.removeFromParent();
    this.grid = null;
    if (this.hasPlane) return;
    const colour = this.dark ? 0x3a4460 : 0xb9c0cd;
    this.grid = new THREE.GridHelper(6 * this.size, 30, colour, colour);
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.set(this.floor.position.x, this.floor.position.y, this.lowest - 0.021 * this.size);
    const look = this.grid.material as THREE.LineBasicMaterial;
    look.transparent = true;
    look.opacity = 0.35;
    this.scene.add(this.grid);
  }

  /** Looks at everything from the front, a little from above. */
  frameAll(): void {
    if (!this.geometry || !this.frame) return;
    const bounds = boundsOf(this.frame.positions[0], this.geometry);
    const s = Math.max(bounds.size, 0.3 * this.size);
    const lanes = Math.max(1, this.lanes.length);
    const aspect = Math.min(this.canvas.clientWidth / lanes / Math.max(1, this.canvas.clientHeight), 1.25);
    const slope = Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const direction = new THREE.Vector3(0.55, -1, 0.42).normalize();
    const width = this.canvas.clientWidth / lanes / Math.max(1, this.canvas.clientHeight);
    const distance = Math.max((0.62 * s) / slope / aspect, distanceToSee(bounds, direction, slope, width));
    this.controls.target.copy(bounds.centre);
    this.camera.position.copy(bounds.centre).addScaledVector(direction, distance);
    this.camera.near = 0.005 * s;
    this.camera.far = 40 * s + 4 * distance;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = 0.02 * s;
    this.controls.maxDistance = 20 * s;
    this.controls.update();
    this.isDirty = true;
  }

  /** Turns, moves and zooms by keys: shares of a right angle, of the size, and a factor. */
  turn(right: number, up: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.applyAxisAngle(this.camera.up, (-right * Math.PI) / 2);
    const side = new THREE.Vector3().crossVectors(this.camera.up, offset).normalize();
    const turned = offset.clone().applyAxisAngle(side, (-up * Math.PI) / 2);
    if (Math.abs(turned.clone().normalize().z) < 0.995) offset.copy(turned);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.isDirty = true;
  }

  pan(right: number, up: number): void {
    const x = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0).multiplyScalar(right * this.size);
    const y = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1).multiplyScalar(up * this.size);
    this.camera.position.add(x).add(y);
    this.controls.target.add(x).add(y);
    this.controls.update();
    this.isDirty = true;
  }

  zoom(factor: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.isDirty = true;
  }

  touch(): void {
    this.isDirty = true;
  }

  /** What rests is drawn finely once; what moves is drawn as finely as the browser can follow. */
  private chooseQuality(): void {
    const now = performance.now();
    const turn = now - this.lastTurn;
    this.lastTurn = now;
    if (this.isDirty) this.lastChange = now;

    // A pause of a second is not slow drawing: the page was hidden, or the machine slept.
    if (this.isDirty && turn < 1000) this.noteTurn(turn);
    const isResting = now - this.lastChange > REST;
    const wanted = isResting || this.isFilm ? FINEST : this.quality;
    if (wanted !== this.drawnQuality) this.isDirty = true;
    this.drawnQuality = wanted;
  }

  /** Averages the turns; what was too slow once is not tried again with this scene. */
  private noteTurn(milliseconds: number): void {
    this.turns++;
    this.turnLength += (milliseconds - this.turnLength) / Math.min(this.turns, TURNS);
    if (this.turns < TURNS) return;
    const isSlow = this.turnLength > SLOW_TURN && this.quality + 1 < QUALITIES.length;
    const isFast = this.turnLength < FAST_TURN && this.quality > this.finest && this.turns > 5 * TURNS;
    if (!isSlow && !isFast) return;
    this.quality += isSlow ? 1 : -1;
    if (isSlow) this.finest = this.quality;
    this.turns = 0;
  }

  /** The first picture comes without shadows: their shaders take longer to compile than all the others. */
  private finishFirst(): void {
    this.firstDrawn = performance.now();
    performance.mark("first frame", { detail: this.renderer.info.programs?.length });
    this.sun.castShadow = true;
    this.floor.visible = !this.hasPlane;
    this.isDirty = true;
    this.onFirst();
  }

  /** Draws if anything has changed. */
  draw(): void {
    this.chooseQuality();
    const quality = QUALITIES[this.drawnQuality];
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const ratio = Math.min(quality.pixels * window.devicePixelRatio, MOST_PIXELS);
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== width || size.y !== height || this.renderer.getPixelRatio() !== ratio) {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(width, height, false);
      this.isDirty = true;
    }
    if (!this.isDirty || width === 0 || height === 0) return;
    this.isDirty = false;
    this.renderer.shadowMap.autoUpdate = this.pictures++ % quality.shared === 0;

    const count = Math.max(1, this.lanes.length);
    const part = width / count;
    this.camera.aspect = part / height;
    this.camera.updateProjectionMatrix();
    for (let i = 0; i < count; i++) {
      this.lanes.forEach((lane, j) => (lane.group.visible = i === j));
      this.renderer.setViewport(i * part, 0, part, height);
      this.renderer.setScissor(i * part, 0, part, height);
      this.renderer.render(this.scene, this.camera);
    }
    if (this.frame && this.firstDrawn === 0) this.finishFirst();
  }
}
