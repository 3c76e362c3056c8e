// One connection from this node to another, with the line on which it forwards calls.

import type { Answered, Asked, Call } from "../calls/call.ts";
import { type Forwarded, Line } from "../calls/line.ts";

export const peerPath = "/nodes/link";

/** How long a connection may take to come about. */
const connectMsMax = 1_000;
/** A node that does not answer a ping for longer is taken for gone. */
const pingMs = 1_000;
const silenceMsMax = 4_000;

export const ping = "ping";
export const pong = "pong";

export class Peer {
  readonly #socket: WebSocket;
  readonly #line = new Line((asked: readonly Asked[]) => this.#socket.send(JSON.stringify(asked)));
  readonly #timer: ReturnType<typeof setInterval>;
  #isOpen = false;
  #isRetired = false;
  #isOver = false;
  #heardAt = performance.now();

  /** `key`: what the node expects of the others. `unreached`: told why there is no connection. */
  constructor(
    { url, key }: { readonly url: string; readonly key: string },
    unreached: (why: string) => void,
  ) {
    const address = `${url.replace(/^http/, "ws")}${peerPath}`;
    const options: Bun.WebSocketOptions = { headers: { authorization: `Bearer ${key}` } };
    // The browser's types, which come first, know no headers.
    this.#socket = new WebSocket(address, options as unknown as string[]);
    this.#socket.onopen = () => {
      this.#isOpen = true;
      this.#line.open();
    };
    this.#socket.onmessage = ({ data }) => this.#heard(String(data));
    this.#socket.onerror = (event) => {
      if (!this.#isOpen) unreached("message" in event ? String(event.message) : "");
      this.close();
    };
    this.#socket.onclose = () => this.close();
    const connecting = setTimeout(() => {
      if (!this.#isOpen) this.close();
    }, connectMsMax);
    connecting.unref();
    this.#timer = setInterval(() => this.#ping(), pingMs);
    this.#timer.unref();
  }

  get isOver(): boolean {
    return this.#isOver || this.#isRetired;
  }

  /** Never rejects. The node is told when the signal aborts. */
  async call(call: Call, signal: AbortSignal): Promise<Forwarded> {
    if (this.isOver) return { is: "unsent" };
    const forwarded = await this.#line.call(call, signal);
    if (this.#isRetired) this.#closeIfIdle();
    return forwarded;
  }

  /**
   * Takes no more calls. Leases that wait there come back, with what they were granted meanwhile;
   * once all is answered it is closed, or the node could not stop listening.
   */
  retire(): void {
    this.#isRetired = true;
    this.#line.recall("lease");
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (this.#line.isIdle) this.close();
  }

  #heard(text: string): void {
    this.#heardAt = performance.now();
    if (text !== pong) this.#line.heard(JSON.parse(text) as Answered[]);
  }

  /** A node that was stopped, or cut off, says nothing of it. */
  #ping(): void {
    if (performance.now() - this.#heardAt > silenceMsMax) this.close();
    else if (this.#isOpen) this.#socket.send(ping);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#socket.close();
    this.#line.end();
  }
}
