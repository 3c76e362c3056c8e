// The views of a payload: bytes, text and tree. Pure. There is a tree only if it contains all of the
// text.

import { withVisibleMarks } from "../../../format.ts";

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export interface DecodedText {
  readonly text: string;
  /** If not, `text` has marks for the bytes that are not. */
  readonly isUtf8: boolean;
}

export function textOf(bytes: Uint8Array<ArrayBuffer>): DecodedText {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isUtf8: true };
  } catch {
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), isUtf8: false };
  }
}

const hexWidth = 16;
/** Bytes or characters that a view shows; a download has all of them. */
export const shownMax = 65_536;

/** The first bytes as a dump: a line for each sixteen. */
export function hexDump(bytes: Uint8Array): string {
  const lineCount = Math.ceil(Math.min(bytes.length, shownMax) / hexWidth);
  return Array.from({ length: lineCount }, (_, line) => hexLine(bytes, line)).join("\n");
}

/** Sixteen bytes of a dump: offset, hex and ASCII. */
export function hexLine(bytes: Uint8Array, line: number): string {
  const from = line * hexWidth;
  const part = [...bytes.subarray(from, from + hexWidth)];
  const pairs = part.map((byte) => byte.toString(16).padStart(2, "0"));
  const [left, right] = [pairs.slice(0, 8).join(" "), pairs.slice(8).join(" ")];
  const shown = part.map((byte) => (byte < 32 || byte > 126 ? "." : String.fromCharCode(byte)));
  const place = from.toString(16).padStart(6, "0");
  return `${place}  ${left.padEnd(23)}  ${right.padEnd(23)}  ${shown.join("")}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are made visible.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

export interface VisibleText {
  readonly text: string;
  /** Characters that are invisible, or change the direction of text. */
  readonly hasControls: boolean;
}

/** Control characters are shown as signs: ESC as ␛. */
export function plainOf(text: string): VisibleText {
  const plain = withVisibleMarks(text).replace(controls, (found) => {
    const code = found.charCodeAt(0);
    return code === 127 ? "␡" : String.fromCharCode(0x2400 + code);
  });
  return { text: plain, hasControls: plain !== text };
}

export type Tree =
  | { readonly what: "tree"; readonly root: object }
  | { readonly what: "none"; readonly why: string };

const treeBytesMax = 1_000_000;
const depthMax = 200;

export function treeOf({ text, isUtf8 }: DecodedText): Tree {
  const none = (why: string): Tree => ({ what: "none", why });
  if (!isUtf8 || !/^\s*[[{]/.test(text)) return none("");
  if (text.length > treeBytesMax) return none("There is no tree above 1 MB.");
  if (depthOf(text) > depthMax) return none(`It is nested more than ${depthMax} deep: no tree.`);
  let isExact = true;
  let keyCount = 0;
  // Only recent engines pass the source text of a number; without it no fraction is trusted.
  const revive = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      keyCount += Object.keys(value).length;
    }
    if (typeof value !== "number") return value;
    const source = context?.source;
    if (source === undefined) isExact &&= Math.abs(value) < 1e15 && Number.isInteger(value);
    if (source === undefined || source === String(value)) return value;
    // The viewer prints a date by this method: the number is shown as it was written.
    return Object.assign(new Date(0), { toISOString: () => source });
  };
  try {
    const root: unknown = JSON.parse(text, revive);
    if (typeof root !== "object" || root === null) return none("");
    if (!isExact) return none("This browser would change its numbers: no tree.");
    if (keyCount !== keysIn(text))
      return none("It has a field twice, which only the text can show.");
    return { what: "tree", root };
  } catch {
    return none("It is not JSON.");
  }
}

const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** In JSON a string before a colon is a key. */
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
export interface PayloadContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isUtf8: boolean;
  readonly textLength: number;
  /** The beginning of the text. */
  readonly plain: VisibleText;
  readonly tree: Tree;
}

export function readPayload(base64: string): PayloadContent {
  const bytes = bytesOf(base64);
  const text = textOf(bytes);
  return {
    bytes,
    isUtf8: text.isUtf8,
    textLength: text.text.length,
    plain: plainOf(text.text.slice(0, shownMax)),
    tree: treeOf(text),
  };
}
