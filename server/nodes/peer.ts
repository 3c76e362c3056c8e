// One connection from this node to another, on which it forwards calls; each carries a number, and
// answers come in any order.

import type { Failure } from "../../engine/errors.ts";
import type { OperationId } from "../../openapi/operations.ts";

export interface PeerCall {
  readonly operation: OperationId;
  readonly body: unknown;
  readonly requestKey: string | null;
}

/**
 * `moved`: the node does not have the shards, and did nothing. `lost`: they went while it was at
 * it, and the outcome with them. `failed`: a bug, which it has logged.
 */
export type PeerAnswer =
  | { readonly is: "done"; readonly text: string; readonly isReplayed: boolean }
  | { readonly is: "refused"; readonly failure: Failure }
  | { readonly is: "moved" }
  | { readonly is: "lost" }
  | { readonly is: "failed" };

/** What goes to the node that serves; `null` = the caller has hung up. */
export interface ToPeer {
  readonly number: number;
  readonly call: PeerCall | null;
}

export interface FromPeer {
  readonly number: number;
  readonly answer: PeerAnswer;
}

/** `unsent`: it never left; `lost`: also that the connection broke. */
export type Forwarded = PeerAnswer | { readonly is: "unsent" };

interface Waiting {
  readonly operation: OperationId;
  readonly settle: (forwarded: Forwarded) => void;
  isSent: boolean;
}

export const peerPath = "/nodes/link";

/** How long a connection may take to come about. */
const connectMsMax = 1_000;
/** A node that does not answer a ping for longer is taken for gone. */
const pingMs = 1_000;
const silenceMsMax = 4_000;

export class Peer {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #unsent: string[] | null = [];
  #isRetired = false;
  #isOver = false;
  #heardAt = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;

  /** `key`: what the node expects of the others. `unreached`: told why there is no connection. */
  constructor(
    { url, key }: { readonly url: string; readonly key: string },
    unreached: (why: string) => void,
  ) {
    const address = `${url.replace(/^http/, "ws")}${peerPath}`;
    const options: Bun.WebSocketOptions = { headers: { authorization: `Bearer ${key}` } };
    // The browser's types, which come first, know no headers.
    this.#socket = new WebSocket(address, options as unknown as string[]);
    this.#socket.onopen = () => this.#opened();
    this.#socket.onmessage = ({ data }) => this.#heard(String(data));
    this.#socket.onerror = (event) => {
      if (this.#unsent !== null) unreached("message" in event ? String(event.message) : "");
      this.close();
    };
    this.#socket.onclose = () => this.close();
    const connecting = setTimeout(() => {
      if (this.#unsent !== null) this.close();
    }, connectMsMax);
    connecting.unref();
    this.#timer = setInterval(() => this.#ping(), pingMs);
    this.#timer.unref();
  }

  get isOver(): boolean {
    return this.#isOver || this.#isRetired;
  }

  /** Never rejects. The node is told when the signal aborts. */
  call(call: PeerCall, signal: AbortSignal): Promise<Forwarded> {
    if (this.isOver) return Promise.resolve({ is: "unsent" });
    this.#last += 1;
    const number = this.#last;
    return new Promise((resolve) => {
      const hangUp = (): void => this.#say({ number, call: null });
      const settle = (forwarded: Forwarded): void => {
        signal.removeEventListener("abort", hangUp);
        this.#waiting.delete(number);
        resolve(forwarded);
        if (this.#isRetired && this.#waiting.size === 0) this.close();
      };
      const { operation } = call;
      this.#waiting.set(number, { operation, settle, isSent: this.#unsent === null });
      signal.addEventListener("abort", hangUp, { once: true });
      this.#say({ number, call });
    });
  }

  /**
   * Takes no more calls. Leases that wait there come back, with what they were granted meanwhile;
   * once all is answered it is closed, or the node could not stop listening.
   */
  retire(): void {
    this.#isRetired = true;
    for (const [number, { operation }] of this.#waiting) {
      if (operation === "lease") this.#say({ number, call: null });
    }
    if (this.#waiting.size === 0) this.close();
  }

  #say(message: ToPeer): void {
    const text = JSON.stringify(message);
    if (this.#unsent === null) this.#socket.send(text);
    else this.#unsent.push(text);
  }

  #opened(): void {
    for (const text of this.#unsent ?? []) this.#socket.send(text);
    this.#unsent = null;
    for (const waiting of this.#waiting.values()) waiting.isSent = true;
  }

  #heard(text: string): void {
    this.#heardAt = performance.now();
    if (text === pong) return;
    const { number, answer } = JSON.parse(text) as FromPeer;
    this.#waiting.get(number)?.settle(answer);
  }

  /** A node that was stopped, or cut off, says nothing of it. */
  #ping(): void {
    if (performance.now() - this.#heardAt > silenceMsMax) this.close();
    else if (this.#unsent === null) this.#socket.send(ping);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#socket.close();
    for (const { settle, isSent } of [...this.#waiting.values()]) {
      settle({ is: isSent ? "lost" : "unsent" });
    }
  }
}

export const ping = "ping";
export const pong = "pong";
