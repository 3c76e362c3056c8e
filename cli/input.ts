// Reads lines of standard input or of a file as a stream.

import { fstatSync } from "node:fs";
import { UsageError } from "./exit-codes.ts";

export interface Line {
  /** Without the line break. */
  readonly bytes: Uint8Array;
  /** From 1. */
  readonly number: number;
  /** Offset of the end of this line in the input, in bytes. */
  readonly end: number;
}

/** Skips empty lines. */
export async function* linesOf(input: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  let rest = new Uint8Array(0);
  let number = 0;
  let end = 0;
  const line = (bytes: Uint8Array, breakBytes: number): Line | null => {
    number += 1;
    end += bytes.length + breakBytes;
    const own = withoutReturn(bytes);
    return own.length === 0 ? null : { bytes: own, number, end };
  };
  for await (const chunk of input) {
    let from = 0;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      const next = line(bytes.subarray(from, at), 1);
      from = at + 1;
      if (next !== null) yield next;
    }
    rest = new Uint8Array(bytes.subarray(from));
  }
  const last = rest.length === 0 ? null : line(rest, 0);
  if (last !== null) yield last;
}

/** Removes the CR of a CRLF line break. */
function withoutReturn(bytes: Uint8Array): Uint8Array {
  return bytes.at(-1) === 13 ? bytes.subarray(0, -1) : bytes;
}

export interface TextLine extends Line {
  /** Without blanks around it. */
  readonly text: string;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Skips blank lines, and refuses lines that are not UTF-8. */
export async function* textLinesOf(
  input: ReadableStream<Uint8Array>,
  expected: string,
): AsyncGenerator<TextLine> {
  for await (const line of linesOf(input)) {
    const decoded = textLine(line, expected);
    if (decoded.text !== "") yield decoded;
  }
}

/** Refuses bytes that are not UTF-8, because they would be stored as other characters. */
export function textLine(line: Line, expected: string): TextLine {
  try {
    return { ...line, text: utf8.decode(line.bytes).trim() };
  } catch {
    throw new UsageError(`line ${line.number} is not valid UTF-8; expected ${expected}`);
  }
}

/** Reads input that is one JSON text on several lines. */
export async function wholeText(
  input: ReadableStream<Uint8Array>,
  expected: string,
): Promise<string> {
  const lines: string[] = [];
  for await (const { text } of textLinesOf(input, expected)) lines.push(text);
  return lines.join("\n");
}

export function parsedLine({ text, number }: TextLine, expected: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(
      `line ${number} is invalid; expected ${expected}, got '${text.slice(0, 60)}'`,
    );
  }
}

/** Standard input; `null` if it is a terminal. */
export function pipedInput(): ReadableStream<Uint8Array> | null {
  return process.stdin.isTTY ? null : Bun.stdin.stream();
}

/** The size of standard input in bytes; `null` if it is not a file. */
export function pipedBytes(): number | null {
  const stat = fstatSync(0);
  return stat.isFile() ? stat.size : null;
}

/** The share of the input that has been read, 0 to 1; `undefined` if its size is unknown. */
export function shareOf(line: Line | null, bytes: number | null): number | undefined {
  return bytes === null || bytes === 0 ? undefined : (line?.end ?? 0) / bytes;
}
