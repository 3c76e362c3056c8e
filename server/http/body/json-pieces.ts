// Parses a large JSON body in pieces, so that other requests are served in between. Nesting that is
// too deep and values that are too many are refused before they are created. A piece is a run of
// members of one list or object, or a part of a long text. `JSON.parse` parses each piece, so it
// alone decides what is valid JSON.

import { setImmediate as nextRound } from "node:timers/promises";
import { refuse } from "../../../engine/model/validate.ts";
import { BodyCount, bodyLimits, requireFewKeys } from "./body-limits.ts";

/** Parses JSON in UTF-8, with the texts `around` before and after it; throws if it is invalid. */
export type ParseJson = (json: Uint8Array, around?: readonly [string, string]) => unknown;

type Members = unknown[] | Record<string, unknown>;

/** A list, an object or a long text that is not closed yet. */
interface Frame {
  readonly kind: "list" | "object" | "text";
  /** The position of its bracket or quote. */
  readonly open: number;
  /** Where the unparsed bytes begin. */
  start: number;
  /** Where the current member begins. */
  member: number;
  memberCount: number;
  /** The members so far; `null` until the frame is parsed separately from the outer frame. */
  parts: Members | null;
  /** The key of the member that is parsed separately. */
  key: string;
  /** The bytes from `start` on follow a member that was parsed separately. */
  followsPart: boolean;
}

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

const around = { list: ["[", "]"], object: ["{", "}"], text: ['"', '"'] } as const;

const { depthMax, pieceBytes } = bodyLimits;
/** Bytes that are scanned before other requests get a turn: a few milliseconds. */
const scannedMax = 1_000_000;
/** A longer text is parsed in parts. */
const textBytesMax = 4 * pieceBytes;

/** Throws `invalid` for a value beyond the limits, and any error of `parse`. */
export async function parseJsonInPieces(bytes: Uint8Array, parse: ParseJson): Promise<unknown> {
  const reading = new JsonReader(bytes, parse);
  while (!reading.advance()) await nextRound();
  return reading.result();
}

class JsonReader {
  readonly #bytes: Uint8Array;
  readonly #parse: ParseJson;
  readonly #count = new BodyCount();
  readonly #frames: Frame[] = [];
  #at = 0;
  /** Where the open text begins; -1 = not within a text. */
  #quote = -1;
  /** Where the last escape of that text begins. */
  #escape = -1;
  #root: { readonly value: unknown; readonly end: number } | null = null;

  constructor(bytes: Uint8Array, parse: ParseJson) {
    this.#bytes = bytes;
    this.#parse = parse;
  }

  /** Parses about one piece; true = the end is reached. */
  advance(): boolean {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + scannedMax);
    let parsed = 0;
    while (this.#at < stop && parsed < pieceBytes && this.#root === null) {
      if (this.#quote === -1) parsed += this.#step(this.#at++);
      else parsed += this.#skipText(stop);
    }
    return this.#root !== null || this.#at >= bytes.length;
  }

  result(): unknown {
    const { length } = this.#bytes;
    if (this.#root === null) {
      const isOpen = this.#frames.length > 0;
      return this.#read(isOpen ? length : 0, length);
    }
    this.#requireBlank(this.#root.end, length);
    return this.#root.value;
  }

  /** This method and those that it calls return how many bytes they parsed. */
  #step(at: number): number {
    switch (this.#bytes[at]) {
      case quote:
        this.#quote = at;
        this.#escape = -1;
        return 0;
      case colon:
        this.#count.addValue();
        return 0;
      case comma:
        return this.#next(at);
      case openList:
        return this.#open("list", at);
      case openObject:
        return this.#open("object", at);
      case closeList:
        return this.#close("list", at);
      case closeObject:
        return this.#close("object", at);
      default:
        return 0;
    }
  }

  #open(kind: "list" | "object", at: number): number {
    this.#count.addContainer();
    this.#frames.push(frameOf(kind, at));
    if (this.#frames.length > depthMax) {
      refuse(`request body is nested too deeply; expected at most ${depthMax} levels`);
    }
    return 0;
  }

  #next(at: number): number {
    this.#count.addValue();
    const frame = this.#frames.at(-1);
    if (frame === undefined) return 0;
    frame.memberCount += 1;
    if (frame.kind === "object") requireFewKeys(frame.memberCount + 1);
    let parsed = 0;
    if (frame.followsPart || at - frame.start > pieceBytes) {
      this.#separate(this.#frames.length - 1);
      parsed = this.#take(frame, at);
      frame.start = at + 1;
    }
    frame.member = at + 1;
    return parsed;
  }

  #close(kind: "list" | "object", at: number): number {
    const frame = this.#frames.at(-1);
    const isOutermost = this.#frames.length === 1;
    if (frame === undefined || (frame.parts !== null && frame.kind !== kind)) {
      return this.#fail(at);
    }
    this.#frames.pop();
    if (frame.parts === null) {
      if (isOutermost) this.#root = { value: this.#read(0, at + 1), end: at + 1 };
      return 0;
    }
    const parsed = this.#take(frame, at);
    this.#add(frame.parts, at + 1);
    return parsed;
  }

  #skipText(stop: number): number {
    const bytes = this.#bytes;
    const top = this.#frames.at(-1);
    const start = top?.kind === "text" ? top.start : this.#quote + 1;
    const cutAt = start + textBytesMax;
    const end = Math.min(stop, cutAt);
    let at = this.#at;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (byte === quote) {
        this.#at = at + 1;
        this.#quote = -1;
        return top?.kind === "text" ? this.#closeText(top, at) : 0;
      }
      if (byte === backslash) {
        this.#escape = at;
        at += 1;
      }
    }
    this.#at = at;
    return at >= cutAt && at < bytes.length ? this.#cutText(at) : 0;
  }

  /** Parses a long text as far as it was scanned, up to the end of a character. */
  #cutText(at: number): number {
    const bytes = this.#bytes;
    if (this.#frames.at(-1)?.kind !== "text") this.#frames.push(frameOf("text", this.#quote));
    this.#separate(this.#frames.length - 1);
    const frame = this.#frames.at(-1) as Frame;
    let end = at;
    const isWithinEscape = bytes[this.#escape + 1] === letterU && at < this.#escape + 6;
    if (this.#escape !== -1 && isWithinEscape) end = this.#escape;
    while (end > at - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    (frame.parts as unknown[]).push(this.#read(frame.start, end, around.text));
    const parsed = end - frame.start;
    frame.start = end;
    return parsed;
  }

  #closeText(frame: Frame, at: number): number {
    const parts = frame.parts as unknown[];
    parts.push(this.#read(frame.start, at, around.text));
    this.#frames.pop();
    this.#add(parts.join(""), at + 1);
    return at - frame.start;
  }

  /** Parses the frame separately from now on, and first what precedes it in the outer frames. */
  #separate(index: number): void {
    const frame = this.#frames[index];
    if (frame === undefined || frame.parts !== null) return;
    frame.parts = frame.kind === "object" ? {} : [];
    const outer = this.#frames[index - 1];
    if (outer !== undefined) {
      this.#separate(index - 1);
      if (outer.member > outer.start) this.#take(outer, outer.member - 1);
      outer.start = frame.open;
    }
    if (outer?.kind === "object") {
      const keyed = this.#read(outer.member, frame.open, ["{", '""}']) as object;
      outer.key = Object.keys(keyed)[0] ?? "";
    } else this.#requireBlank(outer?.member ?? 0, frame.open);
  }

  /** Parses the members of the frame up to `end`. */
  #take(frame: Frame, end: number): number {
    const { start, kind, parts } = frame;
    if (frame.followsPart) {
      frame.followsPart = false;
      this.#requireBlank(start, end);
      return 0;
    }
    const read = this.#read(start, end, around[kind]) as Members;
    const keys = Array.isArray(read) ? read : Object.keys(read);
    // A comma has no member before or after it.
    if (keys.length === 0) this.#fail(end);
    if (Array.isArray(read)) for (const value of read) (parts as unknown[]).push(value);
    else for (const key in read) put(parts as Record<string, unknown>, key, read[key]);
    return end - start;
  }

  /** Adds the value of a frame that was parsed separately and ends at `end` to the outer frame. */
  #add(value: unknown, end: number): void {
    const outer = this.#frames.at(-1);
    if (outer === undefined) {
      this.#root = { value, end };
      return;
    }
    if (Array.isArray(outer.parts)) outer.parts.push(value);
    else put(outer.parts as Record<string, unknown>, outer.key, value);
    outer.start = end;
    outer.followsPart = true;
  }

  #read(start: number, end: number, within: readonly [string, string] = ["", ""]): unknown {
    if (end - start > textBytesMax + 2 * pieceBytes) {
      const what = "a number or blanks";
      refuse(`request body is not valid JSON; expected less than ${textBytesMax} bytes of ${what}`);
    }
    return this.#parse(this.#bytes.subarray(start, end), within);
  }

  #requireBlank(start: number, end: number): void {
    this.#read(start, end, ['""', ""]);
  }

  /** Throws the error of `parse` for a misplaced byte. */
  #fail(at: number): never {
    this.#read(at, at + 1);
    throw new SyntaxError("Unexpected token");
  }
}

function frameOf(kind: Frame["kind"], open: number): Frame {
  const start = open + 1;
  return {
    ...{ kind, open, start, member: start, memberCount: 0 },
    ...{ parts: null, key: "", followsPart: false },
  };
}

/** Like `JSON.parse`, for which `__proto__` is a normal key. */
function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, ...described });
}

const described = { configurable: true, enumerable: true, writable: true };
