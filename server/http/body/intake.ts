// Reads request bodies within one budget of bytes. Large bodies count by received bytes, not by
// announced ones, and never take the whole budget, so that small calls find room. When the budget
// is used up, the slowest upload is rejected, large ones first, so that stalled uploads block no
// others.

import { setImmediate as nextRound } from "node:timers/promises";
import { sizeText } from "../../../openapi/bounds.ts";
import { shortened } from "../../../openapi/check.ts";
import { HttpError } from "../reply.ts";

/** A body with a declared length up to this is small: counted whole at once, read in one step. */
const smallBytesMax = 64 * 1024;
/** Share of the budget that large bodies may take. */
const largeShare = 0.75;
/** Bytes that are copied without a pause; copying them takes a few milliseconds. */
const copiedMax = 4_000_000;
/** The rate of a younger upload is not meaningful. */
const slowMs = 1_000;

const full = "too many request bodies are in progress; try again later";
const slow = "request body was received too slowly while others waited; try again later";
const cut = "request body is incomplete; the connection was closed too early";

/** A body, kept until its request is answered. */
export interface Upload {
  readonly since: number;
  /** Counted in the budget: the received bytes, or the declared length of a small body. */
  bytes: number;
  /** Rejects the body while it is being received; `null` before and after. */
  reject: ((error: HttpError) => void) | null;
}

interface Arrived {
  readonly request: Request;
  readonly bytes: Uint8Array;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: HttpError) => void;
}

export class Intake {
  readonly #bytesMax: number;
  readonly #now: () => number;
  readonly #uploads = new Set<Upload>();
  #bytes = 0;
  /** Bodies completed in this round of the event loop. */
  #arrived: Arrived[] = [];

  constructor(bytesMax: number, now: () => number = () => performance.now()) {
    this.#bytesMax = bytesMax;
    this.#now = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The caller has to pass the body to `end`. */
  begin(): Upload {
    return { since: this.#now(), bytes: 0, reject: null };
  }

  end(body: Upload): void {
    this.#stopReceiving(body);
    this.#bytes -= body.bytes;
    body.bytes = 0;
  }

  #stopReceiving(body: Upload): void {
    this.#uploads.delete(body);
    body.reject = null;
  }

  /**
   * Rejects with an `HttpError` if the body exceeds the bound, is cut short, or finds no room.
   * Promises cost time in every call, so this has one promise and one `then`.
   */
  read(request: Request, body: Upload, bodyBytesMax: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const declared = declaredLength(request);
      if (declared !== null && declared > bodyBytesMax) throw tooLarge(bodyBytesMax);
      body.reject = reject;
      this.#uploads.add(body);
      const isSmall = declared !== null && declared <= smallBytesMax;
      if (isSmall) this.#take(body, declared);
      const reading = isSmall ? request.bytes() : this.#receive(request, body, bodyBytesMax);
      reading.then(
        (bytes) => {
          this.#stopReceiving(body);
          const isWhole = bytes.byteLength === (declared ?? bytes.byteLength);
          if (isWhole) this.#atEndOfRound({ request, bytes, resolve, reject });
          else reject(cutShort());
        },
        (error) => reject(error instanceof HttpError ? error : cutShort()),
      );
    });
  }

  /** Rejects the slowest upload; false = none is slow. */
  rejectSlowest(): boolean {
    return this.#rejectUpload(this.#slowest(0));
  }

  #rejectUpload(slowest: Upload | null): boolean {
    if (slowest === null) return false;
    // `close`: otherwise the rest of the body would still be received.
    slowest.reject?.(new HttpError("full", slow, { connection: "close" }));
    this.end(slowest);
    return true;
  }

  async #receive(request: Request, body: Upload, bodyBytesMax: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let received = 0;
    for await (const chunk of request.body ?? []) {
      if (body.reject === null) break;
      received += chunk.byteLength;
      if (received > bodyBytesMax) throw tooLarge(bodyBytesMax);
      chunks.push(chunk);
      this.#take(body, chunk.byteLength);
    }
    return await joined(chunks, received);
  }

  /** Counts more bytes of the body, and makes room for them. */
  #take(body: Upload, bytes: number): void {
    const isLarge = body.bytes + bytes > smallBytesMax;
    const bytesMax = isLarge ? largeShare * this.#bytesMax : this.#bytesMax;
    // The first condition admits a body that is larger than the whole budget.
    while (this.#bytes > body.bytes && this.#bytes + bytes > bytesMax) {
      const slowest = this.#slowest(smallBytesMax + 1) ?? this.#slowest(0);
      if (!this.#rejectUpload(slowest)) throw new HttpError("full", full);
      if (!this.#uploads.has(body)) return;
    }
    body.bytes += bytes;
    this.#bytes += bytes;
  }

  /**
   * The slowest upload with at least `bytesMin` bytes. How much of a small body has been received
   * is unknown.
   */
  #slowest(bytesMin: number): Upload | null {
    const now = this.#now();
    let slowest: Upload | null = null;
    let rateLeast = Number.POSITIVE_INFINITY;
    for (const body of this.#uploads) {
      const age = now - body.since;
      const rate = body.bytes / age;
      if (age < slowMs || body.bytes < bytesMin || rate >= rateLeast) continue;
      slowest = body;
      rateLeast = rate;
    }
    return slowest;
  }

  /**
   * The HTTP parser delivers a body before it examines the bytes that follow. If those are not a
   * request, or belong to a pipelined one, it closes the connection in the same round of the event
   * loop. Then no response can be sent, so the request must have no effect.
   */
  #atEndOfRound(arrived: Arrived): void {
    if (this.#arrived.push(arrived) > 1) return;
    setImmediate(() => {
      const all = this.#arrived;
      this.#arrived = [];
      for (const { request, bytes, resolve, reject } of all) {
        if (request.signal.aborted) reject(cutShort());
        else resolve(bytes);
      }
    });
  }
}

/** Joins the chunks; other requests get a turn after every `copiedMax` bytes. */
async function joined(chunks: readonly Uint8Array[], length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  let end = 0;
  let pieceEnd = copiedMax;
  for (const chunk of chunks) {
    if (end >= pieceEnd) {
      await nextRound();
      pieceEnd = end + copiedMax;
    }
    bytes.set(chunk, end);
    end += chunk.byteLength;
  }
  return bytes;
}

function cutShort(): HttpError {
  return new HttpError("malformed", cut);
}

function tooLarge(bodyBytesMax: number): HttpError {
  return new HttpError("too_large", `request body exceeds ${sizeText(bodyBytesMax)} limit`);
}

/**
 * `null` = not declared. The HTTP parser accepts a length that is sent twice, and joins the two
 * values. As a number that would be `NaN`, and so would every later sum.
 */
function declaredLength(request: Request): number | null {
  const declared = request.headers.get("content-length");
  if (declared === null) return null;
  if (/^\d+$/.test(declared)) return Number(declared);
  const got = shortened(declared);
  throw new HttpError("malformed", `content length is invalid; expected a number, got '${got}'`);
}
