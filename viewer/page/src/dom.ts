// Small helpers that make elements.

type Attributes = { [name: string]: string | number | boolean };

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children);
  return element;
}

/** A button with a text that is read aloud and shown as its tip. */
export function button(symbol: string, tip: string, key: string, act: () => void): HTMLButtonElement {
  const label = key ? `${tip} (${key})` : tip;
  const element = make("button", { type: "button", title: label, "aria-label": label }, symbol);
  element.addEventListener("click", act);
  return element;
}

export interface Slider {
  root: HTMLElement;
  input: HTMLInputElement;
  /** Shows a value without sending it. */
  set(position: number, text: string): void;
  /** Sends at once what waits for the hand to rest. */
  flush(): void;
}

/** A slider with its name and its value as text. `act` is called when the hand rests. */
export function slider(name: string, id: string, low: number, high: number, step: number, describe: (p: number) => string, act: (p: number) => void): Slider {
  const input = make("input", { type: "range", id, min: low, max: high, step });
  const output = make("output", { for: id });
  const root = make("div", { class: "slider" }, make("label", { for: id }, name), output, input);
  let timer = 0;
  let isTouched = false;
  const flush = () => {
    if (!isTouched) return;
    window.clearTimeout(timer);
    isTouched = false;
    act(Number(input.value));
  };
  const set = (position: number, text: string) => {
    if (isTouched) return;
    input.value = String(position);
    input.setAttribute("aria-valuetext", text);
    output.textContent = text;
  };
  input.addEventListener("input", () => {
    isTouched = true;
    const position = Number(input.value);
    output.textContent = describe(position);
    input.setAttribute("aria-valuetext", describe(position));
    window.clearTimeout(timer);
    timer = window.setTimeout(flush, 160);
  });
  return { root, input, set, flush };
}

export function select(name: string, id: string, act: (value: string) => void): { root: HTMLElement; input: HTMLSelectElement } {
  const input = make("select", { id });
  input.addEventListener("change", () => act(input.value));
  return { root: make("div", { class: "field" }, make("label", { for: id }, name), input), input };
}

export function fill(list: HTMLSelectElement, options: { value: string; text: string; tip?: string }[], chosen: string): void {
  const key = JSON.stringify(options);
  if (list.dataset.options !== key) {
    list.dataset.options = key;
    list.replaceChildren(...options.map((o) => make("option", { value: o.value, title: o.tip ?? "" }, o.text)));
  }
  if (document.activeElement !== list || list.value !== chosen) list.value = chosen;
}
