// A wire between two programs on this machine. It can be cut silently, like a network: data sent
// meanwhile is held, and arrives late. It can also delay data.

import type { Socket, TCPSocketListener } from "bun";

interface End {
  readonly wire: Wire;
  socket: Socket<End> | null;
  /** Data not yet delivered to it. */
  readonly held: { readonly bytes: Buffer; readonly dueAt: number }[];
  isOver: boolean;
  other: End | null;
}

export class Wire {
  readonly #target: number;
  readonly #listener: TCPSocketListener<End | undefined>;
  readonly #ends = new Set<End>();
  #isCut = false;
  #delayMs = 0;

  private constructor(target: number, port: number) {
    this.#target = target;
    this.#listener = Bun.listen<End | undefined>({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => this.#join(socket as Socket<End>),
        data: ({ data }, bytes) => data && this.#say(data, bytes),
        drain: ({ data }) => data && this.#flush(data),
        close: ({ data }) => data && this.#hangUp(data),
      },
    });
    this.#listener.unref();
  }

  /** Forwards a port, by default a free one, to `target`. */
  static to(target: number, port = 0): Wire {
    return new Wire(target, port);
  }

  get port(): number {
    return this.#listener.port;
  }

  cut(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
    for (const end of this.#ends) this.#flush(end);
  }

  /** Delays later data by this time, each way. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Closes both ends of each connection and drops the held data. */
  snap(): void {
    for (const { socket } of this.#ends) socket?.terminate();
    this.#ends.clear();
  }

  #end(socket: Socket<End> | null): End {
    const end = { wire: this, socket, held: [], isOver: false, other: null };
    this.#ends.add(end);
    return end;
  }

  #join(socket: Socket<End>): void {
    const [near, far] = [this.#end(socket), this.#end(null)];
    near.other = far;
    far.other = near;
    socket.data = near;
    void Bun.connect<End>({
      hostname: "127.0.0.1",
      port: this.#target,
      data: far,
      socket: {
        open: (opened) => {
          far.socket = opened;
          this.#flush(far);
        },
        data: ({ data }, bytes) => this.#say(data, bytes),
        drain: ({ data }) => this.#flush(data),
        close: ({ data }) => this.#hangUp(data),
      },
    }).catch(() => this.#hangUp(far));
  }

  #say({ other }: End, bytes: Buffer): void {
    if (other === null) return;
    other.held.push({ bytes: Buffer.from(bytes), dueAt: performance.now() + this.#delayMs });
    this.#flush(other);
  }

  #hangUp(end: End): void {
    this.#ends.delete(end);
    if (end.other === null) return;
    end.other.isOver = true;
    this.#flush(end.other);
  }

  #flush(end: End): void {
    const { socket, held } = end;
    if (this.#isCut || socket === null) return;
    for (let [first] = held; first !== undefined; [first] = held) {
      const { bytes, dueAt } = first;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) {
        setTimeout(() => this.#flush(end), waitMs);
        return;
      }
      const written = socket.write(bytes);
      if (written < bytes.length) {
        held[0] = { bytes: bytes.subarray(Math.max(0, written)), dueAt };
        return;
      }
      held.shift();
    }
    if (end.isOver) socket.end();
  }
}
