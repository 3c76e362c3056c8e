// Checks that each item was delivered exactly once. Every payload begins with a distinct number;
// the consumer marks each received number in a bitset, and the run fails unless each is there once.

/** Digits at the start of a payload: 9 bytes are 12 characters of base64 without padding. */
export const numberDigits = 9;

export const payloadBytes = 100;
/** The payload of each item, with room for its number. */
export const payload = "0".repeat(numberDigits).padEnd(payloadBytes, "x");

const digitZero = 48;

/** Writes the number as text at the start of a payload. */
export function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  let rest = number;
  for (let place = at + numberDigits - 1; place >= at; place -= 1) {
    const higher = Math.floor(rest / 10);
    bytes[place] = digitZero + rest - higher * 10;
    rest = higher;
  }
}

const base64Value = new Uint8Array(256);
for (const [value, letter] of [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
].entries()) {
  base64Value[letter.charCodeAt(0)] = value;
}

/** The number in a base64 payload. */
export function readNumber(bytes: Uint8Array, at: number): number {
  let number = 0;
  for (let place = at; place < at + 12; place += 4) {
    const three =
      (sextet(bytes, place) << 18) |
      (sextet(bytes, place + 1) << 12) |
      (sextet(bytes, place + 2) << 6) |
      sextet(bytes, place + 3);
    number =
      number * 1_000 +
      ((three >> 16) - digitZero) * 100 +
      (((three >> 8) & 0xff) - digitZero) * 10 +
      ((three & 0xff) - digitZero);
  }
  return number;
}

function sextet(bytes: Uint8Array, at: number): number {
  return base64Value[bytes[at] as number] as number;
}

export interface Delivered {
  /** All deliveries, repeated ones included. */
  readonly items: number;
  readonly duplicates: number;
  /** Delivered numbers that were not produced. */
  readonly unknown: number;
}

export class Delivery {
  readonly #seen: Uint8Array;
  readonly #numbers: number;
  #items = 0;
  #duplicates = 0;
  #unknown = 0;

  /** The numbers from 0 to `numbers` - 1 were produced. */
  constructor(numbers: number) {
    this.#numbers = numbers;
    this.#seen = new Uint8Array(Math.ceil(numbers / 8));
  }

  see(number: number): void {
    this.#items += 1;
    if (!(number >= 0 && number < this.#numbers)) {
      this.#unknown += 1;
      return;
    }
    const byte = number >> 3;
    const bit = 1 << (number & 7);
    const seen = this.#seen[byte] as number;
    if ((seen & bit) !== 0) this.#duplicates += 1;
    else this.#seen[byte] = seen | bit;
  }

  get delivered(): Delivered {
    return { items: this.#items, duplicates: this.#duplicates, unknown: this.#unknown };
  }
}

/**
 * Throws unless exactly `items` different numbers were delivered and `left` items are left. If
 * nothing else was produced, each item was delivered exactly once.
 */
export function checkDelivery(
  { items, duplicates, unknown }: Delivered,
  expected: { readonly items: number; readonly left: number; readonly leftFound: number },
): void {
  const lost = expected.items - (items - duplicates - unknown);
  if (lost === 0 && duplicates === 0 && unknown === 0 && expected.left === expected.leftFound) {
    return;
  }
  throw new Error(
    `items were not delivered exactly once; expected ${expected.items} and ${expected.left} left, ` +
      `got ${items}, of them ${duplicates} twice and ${unknown} unknown, ${lost} missing, ${expected.leftFound} left`,
  );
}
