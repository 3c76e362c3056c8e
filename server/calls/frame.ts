// Encodes the calls or the answers of one round of events as one text between threads or nodes. A
// structured clone of the same objects takes several times as long, and a body, which is already
// JSON, is not escaped again.

import type { Answer, Call, NumberedAnswer, NumberedCall } from "./call.ts";

// calls    c<length of the rest>,
//          per call:          <number>,<operation><shard><body><request key><identity>
//          per hang-up:       <number>,<null>
// answers  a<length of the rest>,
//          per reply:         <number>,<reply><1 if replayed, else 0>,
//          per other answer:  <number>,<null><answer as JSON>
//
// A text is encoded as its length in UTF-16 units, a comma and its characters, a shard as its
// number and a comma, and `null` as `-,`.

export function encodeCalls(calls: readonly NumberedCall[]): string {
  let text = "";
  for (const { number, call } of calls) {
    if (call === null) text += `${number},-,`;
    else {
      const { operation, shard, body, requestKey, identity } = call;
      const identityText = identity === undefined ? null : JSON.stringify(identity);
      text += `${number},${part(operation)}${shard ?? "-"},`;
      text += `${part(body)}${part(requestKey)}${part(identityText)}`;
    }
  }
  return `c${text.length},${text}`;
}

/** Throws an `Error` unless the text is a whole frame of calls. */
export function decodeCalls(text: string): NumberedCall[] {
  const frame = new FrameReader(text, "c");
  const calls: NumberedCall[] = [];
  while (!frame.isOver) {
    const number = frame.number();
    const operation = frame.nullable() as Call["operation"] | null;
    if (operation === null) calls.push({ number, call: null });
    else {
      const shard = frame.isNull() ? null : frame.number();
      const call = { operation, shard, body: frame.text(), requestKey: frame.nullable() };
      const identity = frame.nullable();
      calls.push({
        number,
        call: identity === null ? call : { ...call, identity: JSON.parse(identity) },
      });
    }
  }
  return calls;
}

/** Whether a frame is one of calls; the other kind is of answers. */
export function areCalls(frame: string): boolean {
  return frame.startsWith("c");
}

export function encodeAnswers(answers: readonly NumberedAnswer[]): string {
  let text = "";
  for (const { number, answer } of answers) {
    text +=
      answer.is === "done"
        ? `${number},${part(answer.text)}${answer.isReplayed ? 1 : 0},`
        : `${number},-,${part(JSON.stringify(answer))}`;
  }
  return `a${text.length},${text}`;
}

/** Throws an `Error` unless the text is a whole frame of answers. */
export function decodeAnswers(text: string): NumberedAnswer[] {
  const frame = new FrameReader(text, "a");
  const answered: NumberedAnswer[] = [];
  while (!frame.isOver) {
    const number = frame.number();
    const reply = frame.nullable();
    const answer: Answer =
      reply === null
        ? JSON.parse(frame.text())
        : { is: "done", text: reply, isReplayed: frame.number() === 1 };
    answered.push({ number, answer });
  }
  return answered;
}

function part(text: string | null): string {
  return text === null ? "-," : `${text.length},${text}`;
}

const [comma, dash, zero] = [44, 45, 48];

class FrameReader {
  readonly #text: string;
  #at = 1;

  constructor(text: string, kind: "c" | "a") {
    this.#text = text;
    if (!text.startsWith(kind)) throw this.#malformed(0);
    const length = this.number();
    const found = text.length - this.#at;
    if (found !== length) {
      throw new Error(`frame is torn; expected ${length} characters, got ${found}`);
    }
  }

  get isOver(): boolean {
    return this.#at === this.#text.length;
  }

  number(): number {
    const begin = this.#at;
    let value = 0;
    for (let at = begin; ; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === comma && at > begin) {
        this.#at = at + 1;
        return value;
      }
      const digit = code - zero;
      // At the end of the text the code is NaN.
      if (!(digit >= 0 && digit <= 9)) throw this.#malformed(at);
      value = 10 * value + digit;
    }
  }

  text(): string {
    const length = this.number();
    const begin = this.#at;
    const end = begin + length;
    if (end > this.#text.length) throw this.#malformed(begin);
    this.#at = end;
    return this.#text.slice(begin, end);
  }

  nullable(): string | null {
    return this.isNull() ? null : this.text();
  }

  /** Also skips the `null`. */
  isNull(): boolean {
    if (this.#text.charCodeAt(this.#at) !== dash) return false;
    if (this.#text.charCodeAt(this.#at + 1) !== comma) throw this.#malformed(this.#at);
    this.#at += 2;
    return true;
  }

  #malformed(at: number): Error {
    return new Error(`frame is malformed at character ${at} of ${this.#text.length}`);
  }
}
