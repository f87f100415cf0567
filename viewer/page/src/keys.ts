// The keyboard. Letters act wherever nothing is being typed; arrows act on the stage.
import type { Page } from "./page";

const TURN = 0.06;
const NUDGE = 0.03;

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return element instanceof HTMLSelectElement || (element instanceof HTMLInputElement && element.type !== "checkbox" && element.type !== "range");
}

/** Arrows turn the view, move it with Shift, and move the hand while something is pulled. */
function arrow(page: Page, right: number, up: number, shift: boolean): void {
  if (page.drag.particle >= 0) page.drag.nudge(NUDGE * right, NUDGE * up);
  else if (shift) page.stage.pan(NUDGE * right, NUDGE * up);
  else page.stage.turn(TURN * right, TURN * up);
}

function act(page: Page, e: KeyboardEvent): boolean {
  const onStage = (e.target as HTMLElement).id === "canvas" || e.target === document.body;
  const arrows: { [key: string]: [number, number] } = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (onStage && arrows[e.key]) {
    arrow(page, ...arrows[e.key], e.shiftKey);
    return true;
  }
  const isButton = e.target instanceof HTMLButtonElement;
  switch (e.key) {
    case " ":
      if (isButton) return false;
      page.transport.toggle();
      return true;
    case ".":
      page.source.send({ do: "step" });
      return true;
    case "r":
    case "R":
      page.source.send({ do: "reset" });
      return true;
    case "w":
    case "W":
      page.panel.wire.click();
      return true;
    case "h":
    case "H":
      page.togglePanels();
      return true;
    case "f":
    case "F":
      page.stage.frameAll();
      return true;
    case "t":
    case "T":
      page.toggleTheme();
      return true;
    case "p":
    case "P":
      if (page.drag.particle >= 0) page.drag.release();
      else page.drag.takeMiddle();
      return true;
    case "Escape":
      page.drag.release();
      return false;
    case "[":
      page.transport.faster(-1);
      return true;
    case "]":
      page.transport.faster(1);
      return true;
    case "+":
    case "=":
      page.stage.zoom(0.9);
      return true;
    case "-":
      page.stage.zoom(1 / 0.9);
      return true;
    case "?":
      page.help.showModal();
      return true;
    default:
      return false;
  }
}

export function bindKeys(page: Page): void {
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || page.help.open || isTyping(e.target)) return;
    if (act(page, e)) e.preventDefault();
  });
}
