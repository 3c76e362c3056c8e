// The network between the nodes of a simulated world. Neither end is notified of a cut: messages
// sent meanwhile are held, and delivered when it heals unless the connection has ended by then.

import type { Host } from "../../../engine/simulation/host.ts";
import type { VirtualClock } from "../../../engine/simulation/virtual-clock.ts";
import type { Connect, Wire, WireEvents } from "../peer.ts";

/** The callbacks of a node for a connection that it has accepted. */
export interface Accepted {
  received(text: string): void;
  ended(): void;
}

export interface Listener {
  readonly host: Host;
  /** Returns `null` to reject the connection. */
  readonly accept: (key: string, wire: Wire) => Accepted | null;
}

export class Network {
  readonly #clock: VirtualClock;
  readonly #listeners = new Map<string, Listener>();
  readonly #connections = new Set<Connection>();
  readonly #cuts = new Set<string>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  listen(url: string, listener: Listener): void {
    this.#listeners.set(url, listener);
  }

  /** Ends the connections of a process that has ended, and notifies their other ends. */
  disconnect(url: string, host: Host): void {
    if (this.#listeners.get(url)?.host === host) this.#listeners.delete(url);
    for (const connection of [...this.#connections]) connection.drop(host);
  }

  /** Cuts both directions between two addresses. */
  cut(url: string, other: string): void {
    this.#cuts.add([url, other].sort().join());
  }

  heal(): void {
    this.#cuts.clear();
    for (const connection of [...this.#connections]) connection.flush();
  }

  isCut(url: string, other: string): boolean {
    return this.#cuts.has([url, other].sort().join());
  }

  connector(url: string, host: Host): Connect {
    return (to, events) => {
      const connection = new Connection(this, {
        ends: [
          { url, host, received: events.received, closed: events.closed },
          { url: to.url, host: null, received: () => undefined, closed: () => undefined },
        ],
      });
      this.#connections.add(connection);
      connection.send(1, () => this.#arrive(connection, to, events));
      return connection.wire(0);
    };
  }

  #arrive(
    connection: Connection,
    { url, key }: { readonly url: string; readonly key: string },
    events: WireEvents,
  ): void {
    const listener = this.#listeners.get(url);
    if (listener === undefined) {
      connection.send(0, () => events.failed("connection refused"));
      return;
    }
    const { host, accept } = listener;
    connection.accepted(host);
    host.deliver(() => {
      const accepted = accept(key, connection.wire(1));
      if (accepted === null) {
        connection.send(0, () => events.failed("rejected"));
        return;
      }
      connection.attach(accepted);
      connection.send(0, () => events.opened());
    });
  }

  nextTick(run: () => void): void {
    this.#clock.nextTick(run);
  }

  ended(connection: Connection): void {
    this.#connections.delete(connection);
  }
}

interface End {
  readonly url: string;
  /** `null`: the connection has not been accepted yet. */
  host: Host | null;
  received: (text: string) => void;
  closed: () => void;
}

type Side = 0 | 1;

class Connection {
  readonly #network: Network;
  readonly #ends: readonly [End, End];
  /** Held messages, by the receiving side. */
  readonly #held: readonly [(() => void)[], (() => void)[]] = [[], []];
  readonly #isClosed: [boolean, boolean] = [false, false];

  constructor(network: Network, { ends }: { readonly ends: readonly [End, End] }) {
    this.#network = network;
    this.#ends = ends;
  }

  wire(side: Side): Wire {
    const other = side === 0 ? 1 : 0;
    return {
      send: (text) => {
        if (this.#isClosed[side]) return;
        this.send(other, () => this.#ends[other].received(text));
      },
      close: () => this.#close(side),
    };
  }

  accepted(host: Host): void {
    this.#ends[1].host = host;
  }

  attach({ received, ended }: Accepted): void {
    this.#ends[1].received = received;
    this.#ends[1].closed = ended;
  }

  /** Sends to a side, in order. */
  send(side: Side, run: () => void): void {
    this.#network.nextTick(() => {
      this.#held[side].push(run);
      this.flush();
    });
  }

  flush(): void {
    const [one, other] = this.#ends;
    if (this.#network.isCut(one.url, other.url)) return;
    for (const side of [0, 1] as const) {
      for (const run of this.#held[side].splice(0)) {
        const { host } = this.#ends[side];
        const deliver = (): void => {
          if (!this.#isClosed[side]) run();
        };
        if (host === null) deliver();
        else host.deliver(deliver);
      }
    }
  }

  #close(side: Side): void {
    if (this.#isClosed[side]) return;
    this.#isClosed[side] = true;
    // A socket notifies its own end of the close, too.
    this.#ends[side].host?.deliver(() => this.#network.nextTick(() => this.#closedAt(side)));
    this.#hangUp(side === 0 ? 1 : 0);
  }

  #closedAt(side: Side): void {
    const { host, closed } = this.#ends[side];
    host?.deliver(closed);
  }

  /** Notifies a side that the other has closed the connection, or has ended. */
  #hangUp(side: Side): void {
    this.send(side, () => {
      this.#isClosed[side] = true;
      this.#ends[side].closed();
      this.#network.ended(this);
    });
  }

  drop(host: Host): void {
    for (const side of [0, 1] as const) {
      if (this.#ends[side].host !== host || this.#isClosed[side]) continue;
      this.#isClosed[side] = true;
      this.#hangUp(side === 0 ? 1 : 0);
    }
  }
}
