// A payload as its reader may want it. Pure. The bytes are what is true; its text is they, read as
// UTF-8, and a tree is a view of the text that is shown only where it says all that the text does.

import { unturned } from "../../../format.ts";

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export interface Text {
  readonly text: string;
  /** Where it is not, `text` has marks in the place of what is none. */
  readonly isUtf8: boolean;
}

export function textOf(bytes: Uint8Array<ArrayBuffer>): Text {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isUtf8: true };
  } catch {
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), isUtf8: false };
  }
}

export const hexWidth = 16;

/** Sixteen bytes of a dump: where they are, what they are, and what of them is ASCII. */
export function hexLine(bytes: Uint8Array, line: number): string {
  const from = line * hexWidth;
  const part = [...bytes.subarray(from, from + hexWidth)];
  const pairs = part.map((byte) => byte.toString(16).padStart(2, "0"));
  const [left, right] = [pairs.slice(0, 8).join(" "), pairs.slice(8).join(" ")];
  const shown = part.map((byte) => (byte < 32 || byte > 126 ? "." : String.fromCharCode(byte)));
  const place = from.toString(16).padStart(6, "0");
  return `${place}  ${left.padEnd(23)}  ${right.padEnd(23)}  ${shown.join("")}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is made visible.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

export interface Plain {
  readonly text: string;
  /** Something would not be seen, or would turn the text around it. */
  readonly hasControls: boolean;
}

/** What a terminal would obey is shown: ESC as ␛. */
export function plainOf(text: string): Plain {
  const plain = unturned(text).replace(controls, (found) => {
    const code = found.charCodeAt(0);
    return code === 127 ? "␡" : String.fromCharCode(0x2400 + code);
  });
  return { text: plain, hasControls: plain !== text };
}

export type Tree =
  | { readonly what: "tree"; readonly root: object; readonly written: readonly Written[] }
  | { readonly what: "none"; readonly why: string };

/** A number that JavaScript would write in another way than it is written. */
interface Written {
  /** What stands for it in the tree, the same object also behind a worker. */
  readonly date: Date;
  readonly source: string;
}

const treeBytesMax = 1_000_000;
const depthMax = 200;

interface ReviverContext {
  readonly source?: string;
}

export function treeOf({ text, isUtf8 }: Text): Tree {
  const none = (why: string): Tree => ({ what: "none", why });
  if (!isUtf8 || !/^\s*[[{]/.test(text)) return none("");
  if (text.length > treeBytesMax) return none("There is no tree above 1 MB.");
  if (depthOf(text) > depthMax) return none(`It is nested more than ${depthMax} deep: no tree.`);
  const written: Written[] = [];
  let isExact = true;
  let keyCount = 0;
  // The reviver is told how a number is written by engines of late; of others none is believed.
  const revive = (_: string, value: unknown, context?: ReviverContext): unknown => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      keyCount += Object.keys(value).length;
    }
    if (typeof value !== "number") return value;
    const source = context?.source;
    if (source === undefined) isExact &&= Math.abs(value) < 1e15 && Number.isInteger(value);
    if (source === undefined || source === String(value)) return value;
    const date = new Date(0);
    written.push({ date, source });
    return date;
  };
  try {
    const root: unknown = JSON.parse(text, revive);
    if (typeof root !== "object" || root === null) return none("");
    if (!isExact) return none("This browser would change its numbers: no tree.");
    if (keyCount !== keysIn(text))
      return none("It has a field twice, which only the text can show.");
    return { what: "tree", root, written };
  } catch {
    return none("It is not JSON.");
  }
}

/** The viewer prints a date by its own method: that is how a number is shown as it is written. */
export function rootOf({ root, written }: Extract<Tree, { readonly what: "tree" }>): object {
  for (const { date, source } of written) date.toISOString = () => source;
  return root;
}

const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** Of what is JSON: a string before a colon is a key. */
function keysIn(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(strings)) if (colon !== undefined) count += 1;
  return count;
}

function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [found] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (found === "[" || found === "{") depth += 1;
    else if (found === "]" || found === "}") depth -= 1;
    most = Math.max(most, depth);
  }
  return most;
}

/** All that is shown of a payload. */
export interface Read {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isUtf8: boolean;
  readonly plain: Plain;
  readonly tree: Tree;
}

export function readPayload(base64: string): Read {
  const bytes = bytesOf(base64);
  const text = textOf(bytes);
  return { bytes, isUtf8: text.isUtf8, plain: plainOf(text.text), tree: treeOf(text) };
}
