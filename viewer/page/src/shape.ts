// The drawn shapes of one body: a surface of triangles, or tubes along its edges.
import * as THREE from "three";
import { paintValue, stain, type Paint } from "./colours";
import { floorCorners, floorPicture, isFloor } from "./floor";
import type { Body } from "./protocol";

/** Colours of bodies without a scalar field, and of obstacles. */
const PALETTE = [0x3f8efc, 0xf6a23c, 0x47b881, 0xc277e0, 0xe5616e, 0x2bb5c4];
const OBSTACLE = 0x7d8798;

export interface Shape {
  object: THREE.Object3D;
  /** Takes the positions of all particles. */
  move(positions: Float32Array): void;
  /** Takes a value per particle to be painted, or null for the body's own colour. */
  colour(paint: Paint | null): void;
  wireframe(on: boolean): void;
  dispose(): void;
}

/** Obstacles keep their colour, but for the stains on them. */
function takesColour(body: Body, paint: Paint): boolean {
  return paint.map === stain ? body.stained : !body.fixed;
}

function material(body: Body, index: number): THREE.MeshPhongMaterial {
  return new THREE.MeshPhongMaterial({
    color: body.fixed ? OBSTACLE : PALETTE[index % PALETTE.length],
    specular: body.fixed ? 0x000000 : 0x333333,
    shininess: 28,
    side: THREE.DoubleSide,
  });
}

/** Which particles the vertices of a surface come from: one with weight 1, or four. */
interface Carriers {
  count: number;
  faces: Uint32Array;
  /** Takes so many numbers per particle (positions: 3, a value: 1) and writes them for every vertex. */
  gather(from: Float32Array, numbers: number, out: Float32Array): void;
}

/** The particles at the corners of triangles, numbered anew: those inside a body are not drawn. */
function ownParticles(body: Body): Carriers {
  const number = new Int32Array(body.count).fill(-1);
  const particles: number[] = [];
  const faces = body.triangles.map((p) => {
    if (number[p - body.first] < 0) number[p - body.first] = particles.push(p) - 1;
    return number[p - body.first];
  });
  const gather = (from: Float32Array, numbers: number, out: Float32Array) => {
    let at = 0;
    for (const p of particles) for (let k = 0; k < numbers; k++) out[at++] = from[numbers * p + k];
  };
  return { count: particles.length, faces, gather };
}

/** Takes numbers per particle and writes them for every vertex that particles carry. */
function carried(body: Body): Carriers["gather"] {
  const { carriers, weights } = body.surface!;
  return (from: Float32Array, numbers: number, out: Float32Array) => {
    for (let v = 0; v < carriers.length / 4; v++)
      for (let k = 0; k < numbers; k++) {
        let sum = 0;
        for (let j = 4 * v; j < 4 * v + 4; j++) sum += weights[j] * from[numbers * carriers[j] + k];
        out[numbers * v + k] = sum;
      }
  };
}

function embedded(body: Body): Carriers {
  const { carriers, faces } = body.surface!;
  return { count: carriers.length / 4, faces, gather: carried(body) };
}

/** Normals weighted by area. */
function computeNormals(x: Float32Array, faces: Uint32Array, out: Float32Array): void {
  out.fill(0);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f];
    const b = 3 * faces[f + 1];
    const c = 3 * faces[f + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    out[a] += nx; out[a + 1] += ny; out[a + 2] += nz;
    out[b] += nx; out[b + 1] += ny; out[b + 2] += nz;
    out[c] += nx; out[c + 1] += ny; out[c + 2] += nz;
  }
  for (let i = 0; i < out.length; i += 3) {
    const length = Math.sqrt(out[i] * out[i] + out[i + 1] * out[i + 1] + out[i + 2] * out[i + 2]) || 1;
    out[i] /= length;
    out[i + 1] /= length;
    out[i + 2] /= length;
  }
}

export function surfaceShape(body: Body, index: number): Shape {
  const carriers = body.surface ? embedded(body) : ownParticles(body);
  const geometry = new THREE.BufferGeometry();
  const position = new THREE.BufferAttribute(new Float32Array(3 * carriers.count), 3);
  const normal = new THREE.BufferAttribute(new Float32Array(3 * carriers.count), 3);
  const colour = new THREE.BufferAttribute(new Float32Array(3 * carriers.count), 3);
  const values = new Float32Array(carriers.count);
  geometry.setAttribute("position", position);
  geometry.setAttribute("normal", normal);
  geometry.setIndex(new THREE.BufferAttribute(carriers.faces, 1));

  const look = material(body, index);
  const own = look.color.clone();
  if (isFloor(body)) {
    geometry.setAttribute("uv", floorCorners());
    look.map = floorPicture();
    look.transparent = true;
  }
  const mesh = new THREE.Mesh(geometry, look);
  mesh.frustumCulled = false;
  mesh.castShadow = !isFloor(body);
  mesh.receiveShadow = true;
  return {
    object: mesh,
    move(positions) {
      carriers.gather(positions, 3, position.array as Float32Array);
      computeNormals(position.array as Float32Array, carriers.faces, normal.array as Float32Array);
      position.needsUpdate = true;
      normal.needsUpdate = true;
    },
    colour(paint) {
      const painted = paint !== null && takesColour(body, paint);
      if (painted) {
        carriers.gather(paint.values, 1, values);
        for (let v = 0; v < values.length; v++) paintValue(paint, values[v], colour.array as Float32Array, 3 * v);
        geometry.setAttribute("color", colour);
        colour.needsUpdate = true;
      }
      if (look.vertexColors !== painted) {
        look.vertexColors = painted;
        look.needsUpdate = true;
      }
      look.color.copy(painted ? new THREE.Color(0xffffff) : own);
    },
    wireframe(on) {
      look.wireframe = on;
    },
    dispose() {
      geometry.dispose();
      look.map?.dispose();
      look.dispose();
    },
  };
}

/** Lines between points: the particles from `first` on, or vertices that particles carry. */
interface Lines {
  edges: Uint32Array;
  first: number;
  points: number;
  /** The numbers of the points, from those of the particles. */
  numbersAt(from: Float32Array, numbers: number): Float32Array;
}

export function edgesOf(body: Body): Uint32Array {
  return body.surface ? body.surface.edges : body.edges;
}

function linesOf(body: Body): Lines {
  const edges = edgesOf(body);
  if (!body.surface) return { edges, first: body.first, points: body.count, numbersAt: (from) => from };

  const gather = carried(body);
  const points = body.surface.carriers.length / 4;
  const room = new Float32Array(3 * points);
  const numbersAt = (from: Float32Array, numbers: number) => {
    gather(from, numbers, room);
    return room;
  };
  return { edges, first: 0, points, numbersAt };
}

/** Tubes along the edges, with a ball at every point where there are few. */
export function tubeShape(body: Body, index: number, radius: number): Shape {
  const { edges, first, points, numbersAt } = linesOf(body);
  const count = edges.length / 2;
  const sides = count > 5000 ? 5 : count > 500 ? 8 : 14;
  const tube = new THREE.CylinderGeometry(radius, radius, 1, sides, 1, true);
  tube.rotateX(Math.PI / 2); // along z
  const ball = new THREE.SphereGeometry(1.02 * radius, sides, Math.max(4, sides / 2));
  const look = material(body, index);
  const own = look.color.clone();
  const tubes = new THREE.InstancedMesh(tube, look, count);
  const joints = new THREE.InstancedMesh(ball, look, count > 20000 ? 0 : points);
  for (const mesh of [tubes, joints]) {
    mesh.frustumCulled = false;
    mesh.castShadow = count < 20000;
    mesh.receiveShadow = true;
  }
  const group = new THREE.Group();
  group.add(tubes, joints);
  return {
    object: group,
    move(positions) {
      const x = numbersAt(positions, 3);
      const m = tubes.instanceMatrix.array as Float32Array;
      for (let e = 0; e < count; e++) placeTube(x, 3 * edges[2 * e], 3 * edges[2 * e + 1], m, 16 * e);
      tubes.instanceMatrix.needsUpdate = true;
      const j = joints.instanceMatrix.array as Float32Array;
      for (let p = 0; p < joints.count; p++) placeBall(x, 3 * (first + p), j, 16 * p);
      joints.instanceMatrix.needsUpdate = true;
    },
    colour(paint) {
      const painted = paint !== null && takesColour(body, paint) ? { ...paint, values: numbersAt(paint.values, 1) } : null;
      look.color.copy(painted ? new THREE.Color(0xffffff) : own);
      paintInstances(tubes, painted, (v, e) => 0.5 * (v[edges[2 * e]] + v[edges[2 * e + 1]]));
      paintInstances(joints, painted, (v, p) => v[first + p]);
    },
    wireframe(on) {
      look.wireframe = on;
    },
    dispose() {
      tube.dispose();
      ball.dispose();
      look.dispose();
      tubes.dispose();
      joints.dispose();
    },
  };
}

/** Paints the value of every instance; null: white, which shows the material's own colour. */
function paintInstances(mesh: THREE.InstancedMesh, paint: Paint | null, value: (values: Float32Array, i: number) => number): void {
  if (!mesh.instanceColor) {
    if (!paint) return;
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * mesh.instanceMatrix.count), 3);
    (mesh.material as THREE.Material).needsUpdate = true;
  }
  const colours = mesh.instanceColor.array as Float32Array;
  if (paint) for (let i = 0; i < mesh.count; i++) paintValue(paint, value(paint.values, i), colours, 3 * i);
  else colours.fill(1);
  mesh.instanceColor.needsUpdate = true;
}

/** A matrix that puts a unit tube along z between two points. */
function placeTube(x: Float32Array, a: number, b: number, m: Float32Array, at: number): void {
  let zx = x[b] - x[a], zy = x[b + 1] - x[a + 1], zz = x[b + 2] - x[a + 2];
  const length = Math.sqrt(zx * zx + zy * zy + zz * zz) || 1e-12;
  zx /= length;
  zy /= length;
  zz /= length;

  // Any direction across.
  let ux = 0, uy = 0, uz = 0;
  if (Math.abs(zz) < 0.9) { ux = zy; uy = -zx; } else { uy = zz; uz = -zy; }
  const size = Math.sqrt(ux * ux + uy * uy + uz * uz) || 1;
  ux /= size;
  uy /= size;
  uz /= size;
  m[at] = ux;
  m[at + 1] = uy;
  m[at + 2] = uz;
  m[at + 4] = zy * uz - zz * uy;
  m[at + 5] = zz * ux - zx * uz;
  m[at + 6] = zx * uy - zy * ux;
  m[at + 8] = zx * length;
  m[at + 9] = zy * length;
  m[at + 10] = zz * length;
  for (let k = 0; k < 3; k++) m[at + 12 + k] = 0.5 * (x[a + k] + x[b + k]);
  m[at + 15] = 1;
}

function placeBall(x: Float32Array, p: number, m: Float32Array, at: number): void {
  m[at] = m[at + 5] = m[at + 10] = m[at + 15] = 1;
  for (let k = 0; k < 3; k++) m[at + 12 + k] = x[p + k];
}

/** Balls at single particles: pins, points of a system of equations. */
export function ballShape(particles: Uint32Array, radius: number, colour: number): Shape {
  const ball = new THREE.SphereGeometry(radius, 10, 8);
  const look = new THREE.MeshPhongMaterial({ color: colour, side: THREE.DoubleSide }); // the shaders are those of the bodies
  const mesh = new THREE.InstancedMesh(ball, look, particles.length);
  mesh.frustumCulled = false;
  mesh.castShadow = true;
  return {
    object: mesh,
    move(x) {
      const m = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < particles.length; i++) placeBall(x, 3 * particles[i], m, 16 * i);
      mesh.instanceMatrix.needsUpdate = true;
    },
    colour() {},
    wireframe(on) {
      look.wireframe = on;
    },
    dispose() {
      ball.dispose();
      look.dispose();
      mesh.dispose();
    },
  };
}
