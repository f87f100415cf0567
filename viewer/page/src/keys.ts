// The keyboard. Letters act wherever nothing is being typed; arrows act on the stage. Space always pauses, whichever
// button, box, list or slider has the focus, so that nobody presses a button twice by it; Enter presses them.
import type { Page } from "./page";

const TURN = 0.06;
const NUDGE = 0.03;

const isBox = (target: EventTarget | null): target is HTMLInputElement => target instanceof HTMLInputElement && target.type === "checkbox";

/** Whether keys are letters of a text. */
function isText(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "range" && !isBox(target));
}

/** Whether letters belong to the control: in a list they choose an entry. */
function isTyping(e: KeyboardEvent): boolean {
  return isText(e.target) || (e.target instanceof HTMLSelectElement && e.key !== " ");
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
  switch (e.key) {
    case " ":
      if (!e.repeat) page.transport.toggle();
      return true;
    case "Enter":
      if (isBox(e.target)) e.target.click();
      return isBox(e.target);
    case ".":
      page.send({ do: "step" });
      return true;
    case "r":
    case "R":
      page.send({ do: "reset" });
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
    if (e.ctrlKey || e.metaKey || e.altKey || page.help.open || isTyping(e)) return;
    if (act(page, e)) e.preventDefault();
  });

  // Some browsers press a button when Space is let go.
  document.addEventListener("keyup", (e) => {
    if (e.key === " " && !page.help.open && !isText(e.target)) e.preventDefault();
  });
}
