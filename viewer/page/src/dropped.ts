// Files that are dropped on the page: which of them it can open, and what they are called on the way.
import type { State } from "./protocol";

/** What the server takes at most [bytes], of a file and of its name. */
const LARGEST_FILE = 32 * 1024 * 1024;
const LONGEST_NAME = 127;

/** Only a page that is served to other machines has a token, and no files are taken from those. */
export const hasToken = () => new URLSearchParams(location.search).has("token");

/** Why a file cannot be opened here; "" if it can. */
export function whyRefused(file: File, state: State | null, connected: boolean): string {
  const name = sentName(file.name);
  if (state && state.mode !== "live") return `${name}: a ${state.mode} opens no files. Drop it on the page of "twang view SCENE".`;
  if (hasToken()) return `${name}: a page that is served by --listen opens no files.`;
  if (!state || !connected) return `${name}: the server does not answer, so that the file cannot be opened.`;
  if (file.size === 0) return `${name}: the file is empty.`;
  if (file.size > LARGEST_FILE) return `${name}: has ${(file.size / 1024 / 1024).toFixed(1)} MB, and at most 32 MB can be opened.`;
  return "";
}

/** The name for the server's messages: without control characters, and cut before its suffix if it is too long. */
export function sentName(name: string): string {
  const clean = name.replace(/[\u0000-\u001f\u007f]/g, "_").replace(/\p{Surrogate}/gu, "_");
  const suffix = /\.[^.]{1,8}$/.exec(clean)?.[0] ?? "";
  const stem = Array.from(clean.slice(0, clean.length - suffix.length));
  const size = () => new TextEncoder().encode(stem.join("") + suffix).length;
  while (size() > LONGEST_NAME) stem.pop();
  return stem.join("") + suffix;
}
