// Reads the bodies of requests within one budget of bytes. Received bytes count, not announced ones.
// When the budget is used up, the slowest upload is refused, a large one first, so that stalled ones
// keep no other request out; and large bodies never take all of it, so that small calls find room.

import { setImmediate as othersTurn } from "node:timers/promises";
import { sizeText } from "../../../openapi/bounds.ts";
import { shortened } from "../guards.ts";
import { Refusal } from "../reply.ts";

/** A declared body up to this size is small: it is counted at once, and read in one go. */
const smallBytesMax = 64 * 1024;
/** What large bodies may take of the budget. */
const largeShare = 0.75;
/** Bytes that are copied at once: a few milliseconds. */
const copiedMax = 4_000_000;
/** Before this age the rate of an upload says nothing. */
const slowMs = 1_000;

const full = "too many request bodies are being worked on; try again later";
const slow = "request body came too slowly while others waited; try again later";
const cut = "request body could not be read; the connection ended before it did";

/** A body from its first byte until its request is answered. */
export interface Body {
  readonly since: number;
  /** Counted in the budget: what came, and all of a small one. */
  bytes: number;
  received: number;
  /** Refuses it while it is received; `null` before and after. */
  refuse: ((refusal: Refusal) => void) | null;
}

interface Arrived {
  readonly request: Request;
  readonly bytes: Uint8Array;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (refusal: Refusal) => void;
}

export class Intake {
  readonly #bytesMax: number;
  readonly #now: () => number;
  readonly #uploads = new Set<Body>();
  #bytes = 0;
  /** Bodies that are whole since this round of events. */
  #arrived: Arrived[] = [];

  constructor(bytesMax: number, now: () => number = () => performance.now()) {
    this.#bytesMax = bytesMax;
    this.#now = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Begins a body, which has to be ended. */
  begin(): Body {
    return { since: this.#now(), bytes: 0, received: 0, refuse: null };
  }

  end(body: Body): void {
    this.#left(body);
    this.#bytes -= body.bytes;
    body.bytes = 0;
  }

  /** It is no longer received. */
  #left(body: Body): void {
    this.#uploads.delete(body);
    body.refuse = null;
  }

  /**
   * Rejects with a `Refusal` if the body is larger than the bound, is cut short, or finds no room. Each
   * call pays for a promise and what waits for it, so there is one of each.
   */
  read(request: Request, body: Body, bodyBytesMax: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const declared = declaredLength(request);
      if (declared !== null && declared > bodyBytesMax) throw tooLarge(bodyBytesMax);
      body.refuse = reject;
      this.#uploads.add(body);
      const isSmall = declared !== null && declared <= smallBytesMax;
      if (isSmall) this.#take(body, declared);
      const reading = isSmall ? request.bytes() : this.#receive(request, body, bodyBytesMax);
      reading.then(
        (bytes) => {
          this.#left(body);
          const isWhole = bytes.byteLength === (declared ?? bytes.byteLength);
          if (isWhole) this.#atEndOfRound({ request, bytes, resolve, reject });
          else reject(cutShort());
        },
        (error) => reject(error instanceof Refusal ? error : cutShort()),
      );
    });
  }

  /** Refuses the slowest upload; false = none is slow. */
  refuseSlowest(): boolean {
    return this.#refuse(this.#slowest(0));
  }

  #refuse(slowest: Body | null): boolean {
    if (slowest === null) return false;
    // The rest of it would otherwise still be received.
    slowest.refuse?.(new Refusal("full", slow, { connection: "close" }));
    this.end(slowest);
    return true;
  }

  async #receive(request: Request, body: Body, bodyBytesMax: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request.body ?? []) {
      if (body.refuse === null) break;
      body.received += chunk.byteLength;
      if (body.received > bodyBytesMax) throw tooLarge(bodyBytesMax);
      chunks.push(chunk);
      this.#take(body, chunk.byteLength);
    }
    return await joined(chunks, body.received);
  }

  /** Counts more bytes of the body, and makes room for them. */
  #take(body: Body, bytes: number): void {
    const isLarge = body.bytes + bytes > smallBytesMax;
    const bytesMax = isLarge ? largeShare * this.#bytesMax : this.#bytesMax;
    // A body that is larger than the whole budget would otherwise never get in.
    while (this.#bytes > body.bytes && this.#bytes + bytes > bytesMax) {
      const slowest = this.#slowest(smallBytesMax + 1) ?? this.#slowest(0);
      if (!this.#refuse(slowest)) throw new Refusal("full", full);
      if (!this.#uploads.has(body)) return;
    }
    body.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Among bodies of at least `bytesMin`. How much of a small one was received is unknown. */
  #slowest(bytesMin: number): Body | null {
    const now = this.#now();
    let slowest: Body | null = null;
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
   * The parser of HTTP hands over a body before it looks at what follows it. If that is no request, or
   * one that was not waited for, the parser ends the connection in the same round of events, and no
   * answer can be sent: then nothing may be done.
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

/** Other requests have their turn between two pieces of what is copied. */
async function joined(chunks: readonly Uint8Array[], length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  let end = 0;
  let pieceEnd = copiedMax;
  for (const chunk of chunks) {
    if (end >= pieceEnd) {
      await othersTurn();
      pieceEnd = end + copiedMax;
    }
    bytes.set(chunk, end);
    end += chunk.byteLength;
  }
  return bytes;
}

function cutShort(): Refusal {
  return new Refusal("malformed", cut);
}

function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal("too_large", `request body exceeds ${sizeText(bodyBytesMax)} limit`);
}

/**
 * `null` = it is not declared. The parser of HTTP takes a length that is sent twice, and
 * joins the two; taken for a number that would turn every later sum into none.
 */
function declaredLength(request: Request): number | null {
  const declared = request.headers.get("content-length");
  if (declared === null) return null;
  if (/^\d+$/.test(declared)) return Number(declared);
  const got = shortened(declared);
  throw new Refusal("malformed", `content length is invalid; expected a number, got '${got}'`);
}
