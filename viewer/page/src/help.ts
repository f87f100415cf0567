// The help: what keys and the mouse do.
import { button, make } from "./dom";

const KEYS: [string, string][] = [
  ["Space", "pause, go on"],
  [".", "one step"],
  ["R", "back to the start"],
  ["W", "wireframe"],
  ["H", "hide or show the panels"],
  ["F", "look at everything"],
  ["[ ]", "slower, faster"],
  ["P", "pull the particle in the middle; then arrows move the hand, Esc lets go"],
  ["arrows", "turn the view (with Shift: move it)"],
  ["+ −", "nearer, farther"],
  ["T", "dark or light"],
  ["?", "this help"],
  ["Enter", "press the button, or tick the box, that has the focus"],
];

const MOUSE: [string, string][] = [
  ["drag a body", "pull the particle under the pointer (with Shift: turn the view)"],
  ["drag beside it", "turn the view"],
  ["right button", "move the view"],
  ["wheel", "nearer, farther"],
  ["drop a file", "open a scene (.yaml) or a mesh (.obj, .ply, .stl)"],
];

const MARKS: [string, string][] = [
  ["gold ball", "a particle that is held in place, or moved, by the scene"],
  ["orange point", "here surfaces touch"],
  ["gold rod", "your pull, from the particle to the hand"],
  ["red ball", "the particle with the largest acceleration in a step that failed"],
];

function table(rows: [string, string][]): HTMLElement {
  return make("dl", {}, ...rows.flatMap(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)]));
}

export function helpDialog(): HTMLDialogElement {
  const dialog = make("dialog", { id: "help", "aria-label": "Help" });
  const close = button("Close", "Close the help", "Esc", () => dialog.close());
  dialog.append(make("header", {}, make("h2", {}, "Keys"), close), table(KEYS), make("h2", {}, "Mouse"), table(MOUSE), make("h2", {}, "Marks"), table(MARKS));
  dialog.addEventListener("click", (e) => e.target === dialog && dialog.close());
  return dialog;
}
