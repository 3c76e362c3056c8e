// The requests of the load generator: the bytes for the wire, prepared once per connection, with
// the few variable fields overwritten in place. Numbers of variable length are padded with spaces,
// which HTTP and JSON allow, so nothing else moves.

import { requestBytes } from "../../testing/http-client.ts";
import { numberDigits, payload, writeNumber } from "./delivery.ts";

export const idLength = 27;

const blank = 32;
const quote = 34;
const comma = 44;
const digitZero = 48;
const bracketEnd = 93;
const braceEnd = 125;

export interface QueueAddress {
  readonly port: number;
  readonly queue: string;
}

/** Writes a number right-aligned into a field of spaces. */
function writePadded(
  bytes: Uint8Array,
  field: { at: number; width: number },
  number: number,
): void {
  let rest = number;
  for (let place = field.at + field.width - 1; place >= field.at; place -= 1) {
    const higher = Math.floor(rest / 10);
    const isBlank = rest === 0 && place < field.at + field.width - 1;
    bytes[place] = isBlank ? blank : digitZero + rest - higher * 10;
    rest = higher;
  }
}

/** Finds a field, a run of `#`, and fills it with spaces. */
function fieldOf(bytes: Buffer, from = 0): { at: number; width: number } {
  const at = bytes.indexOf("#", from);
  if (at < 0) throw new Error("a request has no field to fill in");
  let width = 0;
  while (bytes[at + width] === 35) width += 1;
  bytes.fill(blank, at, at + width);
  return { at, width };
}

/**
 * Produce requests with items of equal size, which differ in the number at the start of each
 * payload.
 */
export class ProduceBytes {
  readonly #bytes: Buffer;
  readonly #first: number;
  readonly #stride: number;
  readonly #count: number;
  readonly #key: number;
  /** The offset of the priority from the payload; 0 = none. */
  readonly #priority: number;
  /** The same for the group. */
  readonly #group: number;
  readonly #groups: number;

  constructor(
    address: QueueAddress,
    shape: { itemsPerCall: number; keyed?: true; prioritized?: true; groups?: number },
  ) {
    const given = {
      utf8: payload,
      ...(shape.prioritized && { priority: 0 }),
      ...(shape.groups && { group: "0".repeat(numberDigits) }),
    };
    const item = JSON.stringify(given);
    const offsetOf = (field: string): number => {
      const at = item.indexOf(field);
      return at < 0 ? 0 : at + field.length - item.indexOf(payload);
    };
    const body = JSON.stringify({
      queue_name: address.queue,
      request_timeout: "1m",
      items: new Array(shape.itemsPerCall).fill(given),
    });
    this.#priority = offsetOf('"priority":');
    this.#group = offsetOf('"group":"');
    this.#groups = shape.groups ?? 0;
    const key = "#".repeat(numberDigits);
    const headers = shape.keyed ? `Idempotency-Key: ${key}\r\n` : "";
    this.#bytes = requestBytes(address.port, "/v1/queue.produce", body, headers);
    this.#key = this.#bytes.indexOf(key);
    this.#first = this.#bytes.indexOf(item) + item.indexOf(payload);
    this.#stride = item.length + 1;
    this.#count = shape.itemsPerCall;
  }

  /** The request whose items are numbered from `first`. */
  numbered(first: number): Uint8Array {
    if (this.#key >= 0) writeNumber(this.#bytes, this.#key, first);
    let at = this.#first;
    const priority = digitZero + ((first / this.#count) % 10);
    for (let index = 0; index < this.#count; index += 1) {
      writeNumber(this.#bytes, at, first + index);
      if (this.#priority > 0) this.#bytes[at + this.#priority] = priority;
      if (this.#group > 0) {
        writeNumber(this.#bytes, at + this.#group, (first + index) % this.#groups);
      }
      at += this.#stride;
    }
    return this.#bytes;
  }
}

export class LeaseBytes {
  readonly #bytes: Buffer;
  readonly #batchSize: { at: number; width: number };

  constructor(
    address: QueueAddress,
    client: { clientId: string; requestTimeout: string; groupRuns?: boolean | undefined },
  ) {
    const body = JSON.stringify({
      queue_name: address.queue,
      client_id: client.clientId,
      request_timeout: client.requestTimeout,
      batch_size: "####",
      ...(client.groupRuns && { group_runs: true }),
    }).replace('"####"', "####");
    this.#bytes = requestBytes(address.port, "/v1/queue.lease", body);
    this.#batchSize = fieldOf(this.#bytes);
  }

  of(batchSize: number): Uint8Array {
    writePadded(this.#bytes, this.#batchSize, batchSize);
    return this.#bytes;
  }
}

/** `begin`, then `add` for each id, then `end`. */
export class CompleteBytes {
  readonly #bytes: Buffer;
  readonly #contentLength: { at: number; width: number };
  readonly #partition: { at: number; width: number };
  readonly #body: number;
  readonly #first: number;
  #at: number;

  constructor({ port, queue }: QueueAddress, idsMax: number) {
    const body = `{"queue_name":${JSON.stringify(queue)},"request_timeout":"1m","partition":#####,"ids":[`;
    const ids = `"${" ".repeat(idLength)}",`.repeat(idsMax);
    const head = `POST /v1/queue.complete HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: #######\r\n\r\n`;
    this.#bytes = Buffer.from(`${head}${body}${ids}  `);
    this.#contentLength = fieldOf(this.#bytes);
    this.#partition = fieldOf(this.#bytes);
    this.#body = head.length;
    this.#first = head.length + Buffer.byteLength(body);
    this.#at = this.#first;
  }

  begin(partition: number): void {
    writePadded(this.#bytes, this.#partition, partition);
    this.#at = this.#first;
  }

  /** Copies an id from the bytes of a lease reply. */
  add(from: Uint8Array, at: number): void {
    const to = this.#bytes;
    let place = this.#at;
    to[place] = quote;
    place += 1;
    for (let index = 0; index < idLength; index += 1)
      to[place + index] = from[at + index] as number;
    place += idLength;
    to[place] = quote;
    to[place + 1] = comma;
    this.#at = place + 2;
  }

  end(): Uint8Array {
    // Overwrite the last comma.
    this.#bytes[this.#at - 1] = bracketEnd;
    this.#bytes[this.#at] = braceEnd;
    writePadded(this.#bytes, this.#contentLength, this.#at + 1 - this.#body);
    return this.#bytes.subarray(0, this.#at + 1);
  }
}
