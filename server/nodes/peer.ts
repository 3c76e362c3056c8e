// One connection from this node to another, on which it forwards calls.

import { after, type Clock, type Timer } from "../../engine/model/clock.ts";
import type { Call } from "../calls/call.ts";
import { CallClient, type Forwarded, type Limit } from "../calls/call-client.ts";

export const peerPath = "/nodes/link";

/** How long a connection may take to come about. */
const connectMsMax = 1_000;
/** A node that does not answer a ping for longer is taken for gone. */
const pingMs = 1_000;
const silenceMsMax = 4_000;

export const ping = "ping";
export const pong = "pong";

/** What becomes of a connection. */
export interface WireEvents {
  opened(): void;
  heard(text: string): void;
  failed(why: string): void;
  closed(): void;
}

export interface Wire {
  send(text: string): void;
  close(): void;
}

export interface PeerNode {
  readonly url: string;
  /** What the node expects of the others. */
  readonly key: string;
}

export type Connect = (to: PeerNode, events: WireEvents) => Wire;

export const connectBySocket: Connect = ({ url, key }, events) => {
  const address = `${url.replace(/^http/, "ws")}${peerPath}`;
  const options: Bun.WebSocketOptions = { headers: { authorization: `Bearer ${key}` } };
  // The browser's types, which come first, know no headers.
  const socket = new WebSocket(address, options as unknown as string[]);
  socket.onopen = () => events.opened();
  socket.onmessage = ({ data }) => events.heard(String(data));
  socket.onerror = (event) => events.failed("message" in event ? String(event.message) : "");
  socket.onclose = () => events.closed();
  return socket;
};

export interface PeerOptions {
  readonly clock: Clock;
  readonly connect: Connect;
  /** Told why there is no connection. */
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
  #heardAt: number;

  constructor(node: PeerNode, { clock, connect, unreached }: PeerOptions) {
    this.#clock = clock;
    this.#heardAt = clock.precise();
    this.#callClient = new CallClient((frame) => this.#wire.send(frame), clock);
    this.#wire = connect(node, {
      opened: () => {
        this.#isOpen = true;
        this.#callClient.open();
      },
      heard: (text) => {
        try {
          this.#heard(text);
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

  /** Never rejects. Gives the call up after `ms`, or when the client hangs up, and informs the node. */
  async call(call: Call, client: Pick<Request, "signal">, ms: number): Promise<Forwarded> {
    if (this.isOver) return { is: "unsent" };
    const limit: Limit = Number.isFinite(ms) ? (giveUp) => after(this.#clock, ms, giveUp) : null;
    const forwarded = await this.#callClient.call(call, client, limit);
    if (this.#isRetired) this.#closeIfIdle();
    return forwarded;
  }

  /** Takes no more calls. Once all is answered it is closed, or the node could not stop listening. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.recall(null);
    this.#closeIfIdle();
  }

  /** Leases that wait there for this shard, or for any, come back, with what they were granted meanwhile. */
  recall(shard: number | null): void {
    const giveUp = this.#callClient.recall(shard);
    // A node that is cut off from its database cannot say what became of them, and may not know it.
    after(this.#clock, silenceMsMax, () => {
      giveUp();
      if (this.#isRetired) this.#closeIfIdle();
    });
  }

  #closeIfIdle(): void {
    if (this.#callClient.isIdle) this.close();
  }

  #heard(text: string): void {
    this.#heardAt = this.#clock.precise();
    if (text !== pong) this.#callClient.receive(text);
  }

  /** A node that was stopped, or cut off, says nothing of it. */
  #ping(): void {
    if (this.#clock.precise() - this.#heardAt > silenceMsMax) {
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
