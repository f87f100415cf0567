// The ground: a plane with lines, which fades towards its edges.
import * as THREE from "three";
import type { Body } from "./protocol";

const PIXELS = 512;
const LINES = 12; // fields along a side

/** Whether a body is drawn as ground: an obstacle of two triangles. */
export function isFloor(body: Body): boolean {
  return body.fixed && body.count === 4 && body.triangles.length === 6;
}

/** The coordinates of the picture at the four corners, which go round. */
export function floorCorners(): THREE.BufferAttribute {
  return new THREE.BufferAttribute(new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]), 2);
}

/** White with soft lines, transparent at the edges. */
export function floorPicture(): THREE.Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = PIXELS;
  const context = canvas.getContext("2d")!;
  const fade = context.createRadialGradient(PIXELS / 2, PIXELS / 2, 0.3 * PIXELS, PIXELS / 2, PIXELS / 2, 0.5 * PIXELS);
  fade.addColorStop(0, "#fff");
  fade.addColorStop(1, "#fff0");
  context.fillStyle = fade;
  context.fillRect(0, 0, PIXELS, PIXELS);

  // Lines are drawn where there is ground only.
  context.globalCompositeOperation = "source-atop";
  context.strokeStyle = "#0003";
  context.lineWidth = 1.5;
  for (let i = 0; i <= LINES; i++) {
    const at = (i * PIXELS) / LINES;
    context.strokeRect(at, -9, PIXELS, PIXELS + 18);
    context.strokeRect(-9, at, PIXELS + 18, PIXELS);
  }

  const picture = new THREE.CanvasTexture(canvas);
  picture.colorSpace = THREE.SRGBColorSpace;
  picture.anisotropy = 4;
  return picture;
}
