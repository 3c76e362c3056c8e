import { expect, test } from "bun:test";
import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import { bodyLimits } from "./body-limits.ts";
import { type ParseJson, parseJsonInPieces } from "./json-pieces.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const parse: ParseJson = (bytes, [before, behind] = ["", ""]) =>
  JSON.parse(before + utf8.decode(bytes) + behind);

const inPieces = (text: string) => parseJsonInPieces(Buffer.from(text), parse);
const { depthMax, keysMax, containersMax, valuesMax, pieceBytes } = bodyLimits;
/** Longer than a piece. */
const long = "x".repeat(pieceBytes + 1);
/** Parsed in parts. */
const veryLong = "aé😀\\".repeat(pieceBytes);

const filler = () => Array.from({ length: 30_000 }, (_, index) => index);

test.each<[string, unknown]>([
  ["nothing much", { a: [1, "b", null], c: { d: true } }],
  ["a long list", filler()],
  ["a list of long texts", [long, long, 1, long]],
  ["a very long text", veryLong],
  ["very long texts in a list", [1, veryLong, 2, veryLong]],
  ["very long texts in an object", { a: 1, b: veryLong, c: veryLong, d: [] }],
  ["a long list in an object", { before: 1, items: filler(), behind: [2] }],
  ["long lists in long lists", [filler(), 1, [2, filler(), { a: filler(), b: {} }], [], filler()]],
  [
    "a long object",
    Object.fromEntries(
      filler()
        .slice(0, keysMax)
        .map((n) => [`k${n}`, long.slice(0, 300)]),
    ),
  ],
  ["quotes and escapes", ['"\\\n\u0000', long, '"]},{[', `${long}\\`, { '"': long, "\\": long }]],
])("json in pieces: %s parses as with JSON.parse", async (_, value) => {
  for (const text of [JSON.stringify(value), ` ${JSON.stringify(value, null, 1)}\n`]) {
    expect(await inPieces(text)).toEqual(JSON.parse(text));
  }
});

test("json in pieces: a key called __proto__ is a key", async () => {
  const text = `{"a":"${long}","__proto__":{"b":"${long}","c":1},"d":1}`;
  expect(Object.keys((await inPieces(text)) as object)).toEqual(["a", "__proto__", "d"]);
  const late = `{"a":"${long}","d":1,"__proto__":2}`;
  expect(Object.keys((await inPieces(late)) as object)).toEqual(["a", "d", "__proto__"]);
});

test("json in pieces: an escape at any place of a cut is one character", async () => {
  for (let shift = 0; shift < 14; shift += 1) {
    const text = `"${"x".repeat(4 * pieceBytes - 7 + shift)}\\ud83d\\ude00\\\\u00e9${long}"`;
    expect(await inPieces(text)).toBe(JSON.parse(text));
  }
});

test("json in pieces: invalid JSON is refused as by JSON.parse, wherever it is", async () => {
  const pieces = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    '"a"',
    '"',
    "1",
    "-",
    "null",
    " ",
    "x",
    `"${long}"`,
  ];
  const grown = [`"${long}"`, `[${filler()}]`, `{"a":"${long}","b":1}`];
  const random = seededRandom(1);
  const pick = (from: readonly string[]) => from[random.below(from.length)] ?? "";
  let valid = 0;
  for (let round = 0; round < 600; round += 1) {
    let text = "";
    for (let count = random.below(6); count >= 0; count -= 1) {
      text += pick(random.below(2) === 0 ? pieces : grown);
    }
    if (random.below(2) === 0) text = `[${text}]`;
    const expected = attempt(() => JSON.parse(text));
    const got = await inPieces(text).then(
      (value) => ({ value }),
      () => null,
    );
    expect(got).toEqual(expected);
    if (expected !== null) valid += 1;
  }
  expect(valid).toBeGreaterThan(20);
});

function attempt(run: () => unknown): { value: unknown } | null {
  try {
    return { value: run() };
  } catch {
    return null;
  }
}

test.each([
  ["lists", "[".repeat(5_000_000), `nested too deeply; expected at most ${depthMax} levels`],
  [
    "objects",
    `[${"{},".repeat(2_000_000)}`,
    `too many lists and objects; expected at most ${containersMax}`,
  ],
  ["values", `[${"0,".repeat(2_000_000)}`, `too many values; expected at most ${valuesMax}`],
  ["keys", `{${'"a":1,'.repeat(50_000)}`, `too many keys; expected at most ${keysMax}`],
  ["digits", `[${"1".repeat(5_000_000)}]`, "not valid JSON; expected less than"],
  ["blanks", " ".repeat(5_000_000), "not valid JSON; expected less than"],
])("json in pieces: too many %s are refused while they are read", async (_, text, message) => {
  expect(inPieces(text)).rejects.toThrow(message);
});
