// The items that proofs produce. An item is derived from its number, which its payload contains. So
// any item can be identified, and every changed byte is found.

import { numberDigits, readNumber, writeNumber } from "../../bench/load/delivery.ts";

export interface ProofItem {
  readonly payload: Uint8Array;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
}

const kinds = ["", "order", 'a "kind" \\ of ünïcode \u{1f980}', "x".repeat(60)];
const encodings = ["", "application/json", "utf-8"];

/** Most items are small, some fill a page of the store, and a few fill several. */
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

/** The number in a base64 payload; `NaN` when there is none. */
export function numberIn(base64: string): number {
  if (base64.length < base64Digits) return Number.NaN;
  return readNumber(Buffer.from(base64.slice(0, base64Digits), "latin1"), 0);
}

export function numberOf(payload: Uint8Array): number {
  const text = new TextDecoder().decode(payload.subarray(0, numberDigits));
  return /^\d{9}$/.test(text) ? Number(text) : Number.NaN;
}

type Described = Omit<ProofItem, "payload">;

/** Whether an item from the server equals the produced one, byte for byte. */
export function isIntact(number: number, got: Described & { readonly bytes: string }): boolean {
  const item = proofItem(number);
  return got.bytes === item.payload.toBase64() && isDescribed(item, got);
}

/** `isIntact` for an item read from a store. */
export function isIntactItem(number: number, got: ProofItem): boolean {
  const item = proofItem(number);
  return Buffer.compare(item.payload, got.payload) === 0 && isDescribed(item, got);
}

function isDescribed(item: Described, got: Described): boolean {
  return (
    item.kind === got.kind && item.encoding === got.encoding && item.reference === got.reference
  );
}
