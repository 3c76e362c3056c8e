// Encoding and decoding are inverse, and a frame that is not whole is refused.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Answer, Call, NumberedAnswer, NumberedCall } from "./call.ts";
import { decodeAnswers, decodeCalls, encodeAnswers, encodeCalls } from "./frame.ts";

const produce: Call = { operation: "produce", shard: null, body: '{"a":1}', requestKey: null };
const identity = {
  name: "ü",
  rights: [{ roles: ["produce"], queues: ["orders*", "a,b"] }],
} as const;
/** Any UTF-16 text, including lone surrogates. */
const units = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const anyText = fc.string({
  unit: fc.oneof(units, fc.constantFrom(",", "-", "7", "\n", "c", "a")),
});

const calls: readonly (Call | null)[] = [
  produce,
  null,
  { ...produce, body: "" },
  { ...produce, shard: 0 },
  { ...produce, shard: 63, requestKey: "" },
  { ...produce, requestKey: "" },
  { ...produce, requestKey: "key, of 1\n", identity },
  { ...produce, operation: "metrics", body: "", identity: { name: "", rights: [] } },
  { ...produce, body: "\r\n,-,9,\u0000\ud800\u{1f600}é" },
];

const failure = { ok: false, code: "refused", reason: "count_changed", message: "a; b" } as const;
const node = {
  ...{ url: "http://a:1", key: "k", version: "1", startedAt: 1, seenAt: 2 },
  ...{ isDraining: false, isDrainRequested: false, isLive: true },
};
const answers: readonly Answer[] = [
  { is: "done", text: "{}", isReplayed: false },
  { is: "done", text: "", isReplayed: true },
  { is: "done", text: "\n,-,a\udfff\u{1f600}", isReplayed: false },
  { is: "failure", failure },
  { is: "failure", failure: { ...failure, details: { count: "3" } } },
  { is: "refusal", reason: "malformed", message: 'expected ",", got "\n"' },
  { is: "moved", owner: null },
  { is: "moved", owner: node },
  { is: "lost" },
  { is: "failed" },
];

const asked: readonly NumberedCall[] = calls.map((call, index) => ({
  number: 7 * index + 1,
  call,
}));
/** Not in the order of their numbers. */
const answered: readonly NumberedAnswer[] = answers.map((answer, index) => ({
  ...{ number: (index * 3) % answers.length, answer },
}));

test("every kind of call is decoded as it was, alone and among others", () => {
  for (const one of asked) expect(decodeCalls(encodeCalls([one]))).toEqual([one]);
  expect(decodeCalls(encodeCalls(asked))).toEqual([...asked]);
  expect(decodeCalls(encodeCalls([]))).toEqual([]);
});

test("every kind of answer is decoded as it was, alone and among others, in any order of numbers", () => {
  for (const one of answered) expect(decodeAnswers(encodeAnswers([one]))).toEqual([one]);
  expect(decodeAnswers(encodeAnswers(answered))).toEqual([...answered]);
});

test("a text of any characters is decoded as it was", () => {
  const property = fc.property(fc.array(fc.tuple(fc.nat(), anyText, anyText)), (texts) => {
    const many = texts.map(([number, body, requestKey]) => ({
      ...{ number, call: { ...produce, body, requestKey } },
    }));
    expect(decodeCalls(encodeCalls(many))).toEqual(many);
    const replies = texts.map(([number, text]) => ({
      ...{ number, answer: { is: "done", text, isReplayed: true } as const },
    }));
    expect(decodeAnswers(encodeAnswers(replies))).toEqual(replies);
  });
  fc.assert(property);
});

describe.each([
  ["calls", encodeCalls(asked), decodeCalls],
  ["answers", encodeAnswers(answered), decodeAnswers],
] as const)("a frame of %s is refused", (_, frame, decode) => {
  test("if it is cut off at any character", () => {
    for (let length = 0; length < frame.length; length += 1) {
      expect(() => decode(frame.slice(0, length))).toThrow(/^frame is (torn|malformed)/);
    }
  });

  test("if it lacks any one of its characters, or has one more", () => {
    for (let at = 0; at < frame.length; at += 1) {
      expect(() => decode(frame.slice(0, at) + frame.slice(at + 1))).toThrow(/^frame is /);
      expect(() => decode(`${frame.slice(0, at)}x${frame.slice(at)}`)).toThrow(/^frame is /);
    }
  });

  test("if another frame follows it", () => {
    expect(() => decode(frame + frame)).toThrow(
      `frame is torn; expected ${frame.length - 5} characters, got ${2 * frame.length - 5}`,
    );
  });
});

test.each([
  ["", 0],
  ["[]", 0],
  ["a0,", 0],
  ["c,", 1],
  ["c-1,", 1],
  ["c2,x,", 3],
  ["c4,1,-x", 5],
  ["c5,1,7,p", 7],
  ["c1,1", 4],
])("%j is not a frame of calls; malformed at character %d", (frame, at) => {
  expect(() => decodeCalls(frame)).toThrow(`frame is malformed at character ${at} of`);
});

test("a frame of calls is not one of answers", () => {
  expect(() => decodeAnswers(encodeCalls(asked))).toThrow("frame is malformed at character 0");
});
