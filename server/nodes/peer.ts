// One connection from this node to another, on which it forwards calls.

import { after, type Clock, type Timer } from "../../engine/model/clock.ts";
import type { Call } from "../calls/call.ts";
import { CallClient, type CallOutcome, type Limit } from "../calls/call-client.ts";

export const peerPath = "/nodes/link";

const connectMsMax = 1_000;
const pingMs = 1_000;
/** A node that sends nothing for longer is considered unreachable. */
const silenceMsMax = 4_000;

export const ping = "ping";
export const pong = "pong";

export interface WireEvents {
  opened(): void;
  received(text: string): void;
  failed(why: string): void;
  closed(): void;
}

export interface Wire {
  send(text: string): void;
  close(): void;
}

export interface PeerNode {
  readonly url: string;
  /** The key that the node requires of other nodes. */
  readonly key: string;
}

export type Connect = (to: PeerNode, events: WireEvents) => Wire;

export const connectBySocket: Connect = ({ url, key }, events) => {
  const address = `${url.replace(/^http/, "ws")}${peerPath}`;
  const options: Bun.WebSocketOptions = { headers: { authorization: `Bearer ${key}` } };
  // TypeScript picks the browser's overload, which has no headers.
  const socket = new WebSocket(address, options as unknown as string[]);
  socket.onopen = () => events.opened();
  socket.onmessage = ({ data }) => events.received(String(data));
  socket.onerror = (event) => events.failed("message" in event ? String(event.message) : "");
  socket.onclose = () => events.closed();
  return socket;
};

export interface PeerOptions {
  readonly clock: Clock;
  readonly connect: Connect;
  /** Called with the reason when there is no connection. */
  readonly unreached: (why: string) => void;
}

export class Peer {
  readonly #clock: Clock;
  readonly #wire: Wire;
  readonly #callClient: CallClient;
  #timer: Timer;
  #isOpen = false;
  #isRetired = false;
  #isOver = false;
  #receivedAt: number;

  constructor(node: PeerNode, { clock, connect, unreached }: PeerOptions) {
    this.#clock = clock;
    this.#receivedAt = clock.precise();
    this.#callClient = new CallClient((frame) => this.#wire.send(frame), clock);
    this.#wire = connect(node, {
      opened: () => {
        this.#isOpen = true;
        this.#callClient.open();
      },
      received: (text) => {
        try {
          this.#receive(text);
        } catch (error) {
          unreached(String(error));
          this.close();
        }
      },
      failed: (why) => {
        if (!this.#isOpen) unreached(why);
        this.close();
      },
      closed: () => this.close(),
    });
    after(clock, connectMsMax, () => {
      if (!this.#isOpen) this.close();
    });
    this.#timer = this.#pingLater();
  }

  get isOver(): boolean {
    return this.#isOver || this.#isRetired;
  }

  /** Never rejects. Gives up after `ms`, or when the client hangs up, and informs the node. */
  async call(call: Call, client: Pick<Request, "signal">, ms: number): Promise<CallOutcome> {
    if (this.isOver) return { is: "unsent" };
    const limit: Limit = Number.isFinite(ms) ? (giveUp) => after(this.#clock, ms, giveUp) : null;
    const forwarded = await this.#callClient.call(call, client, limit);
    if (this.#isRetired) this.#closeIfIdle();
    return forwarded;
  }

  /**
   * Stops accepting calls, and closes once all are answered. With an open connection, the node at
   * the other end could not stop listening.
   */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.recall(null);
    this.#closeIfIdle();
  }

  /**
   * Recalls the leases that wait at the node for the shard; `null`: for any. They return with any
   * items granted meanwhile.
   */
  recall(shard: number | null): void {
    const giveUp = this.#callClient.recall(shard);
    // A node without its database may not know the outcome of these leases.
    after(this.#clock, silenceMsMax, () => {
      giveUp();
      if (this.#isRetired) this.#closeIfIdle();
    });
  }

  #closeIfIdle(): void {
    if (this.#callClient.isIdle) this.close();
  }

  #receive(text: string): void {
    this.#receivedAt = this.#clock.precise();
    if (text !== pong) this.#callClient.receive(text);
  }

  /** A node that was stopped or cut off cannot close its connections, so pings detect it. */
  #ping(): void {
    if (this.#clock.precise() - this.#receivedAt > silenceMsMax) {
      this.close();
      return;
    }
    if (this.#isOpen) this.#wire.send(ping);
    this.#timer = this.#pingLater();
  }

  #pingLater(): Timer {
    return after(this.#clock, pingMs, () => this.#ping());
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.cancel();
    this.#wire.close();
    this.#callClient.end();
  }
}
