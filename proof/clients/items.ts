// The items that proofs produce. All of an item follows from its number, and the
// number is read from the payload, so that whoever meets an item anywhere can
// tell which one it is, and whether a byte of it has changed.

import { numberDigits, readNumber, writeNumber } from "../../bench/load/delivery.ts";

export interface ProofItem {
  readonly payload: Uint8Array;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
}

const kinds = ["", "order", 'a "kind" \\ of ünïcode \u{1f980}', "x".repeat(60)];
const encodings = ["", "application/json", "utf-8"];

/** Most are small, some fill a page of the store, few several. */
function lengthOf(number: number): number {
  if (number % 499 === 498) return 9_000 + (number % 1_000);
  if (number % 61 === 60) return 1_500;
  return numberDigits + (number % 97);
}

export function proofItem(number: number): ProofItem {
  const payload = new Uint8Array(lengthOf(number));
  writeNumber(payload, 0, number);
  let state = Math.imul(number + 1, 0x9e37_79b1) | 1;
  for (let at = numberDigits; at < payload.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    payload[at] = state;
  }
  return {
    payload,
    kind: kinds[number % kinds.length] ?? "",
    encoding: encodings[number % encodings.length] ?? "",
    reference: number % 3 === 0 ? `reference-${number}` : "",
  };
}

const base64Digits = 12;

/** The number in a payload that is given in base64; `NaN` when there is none. */
export function numberIn(base64: string): number {
  if (base64.length < base64Digits) return Number.NaN;
  return readNumber(Buffer.from(base64.slice(0, base64Digits), "latin1"), 0);
}

export function numberOf(payload: Uint8Array): number {
  const text = new TextDecoder().decode(payload.subarray(0, numberDigits));
  return /^\d{9}$/.test(text) ? Number(text) : Number.NaN;
}

type Described = Omit<ProofItem, "payload">;

/** Whether an item as the server tells it is what was produced, to the byte. */
export function isIntact(number: number, got: Described & { readonly bytes: string }): boolean {
  const item = proofItem(number);
  return got.bytes === item.payload.toBase64() && isDescribed(item, got);
}

/** The same for an item as a store holds it. */
export function isIntactItem(number: number, got: ProofItem): boolean {
  const item = proofItem(number);
  return Buffer.compare(item.payload, got.payload) === 0 && isDescribed(item, got);
}

function isDescribed(item: Described, got: Described): boolean {
  return (
    item.kind === got.kind && item.encoding === got.encoding && item.reference === got.reference
  );
}
