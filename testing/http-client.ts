// A keep-alive HTTP/1.1 client that does as little as possible, so that what is
// measured is the server: one request at a time per connection, requests are
// bytes prepared beforehand, and a reply is read where it lies.

import type { Socket } from "bun";

export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** A reply in a buffer that is the client's: valid only until the call returns. */
export interface ReplyBytes {
  status: number;
  bytes: Buffer;
  /** The body is from `start` to before `end`. */
  start: number;
  end: number;
}

/** Told of the reply; a reply never comes before `send` has returned. */
export type Hear = (reply: ReplyBytes) => void;

const carriageReturn = 13;
const digitZero = 48;
const blank = 32;
const colon = 58;

/** Where the parts of the last head were: those of the next are nearly always in the same places. */
interface Head {
  lengthAt: number;
  end: number;
}

/** One connection; `send` may be called again once the last reply has come. */
export class Channel {
  readonly #reply: ReplyBytes = { status: 0, bytes: Buffer.alloc(0), start: 0, end: 0 };
  readonly #head: Head = { lengthAt: 0, end: 0 };
  readonly #failed: (cause: Error) => void;
  #socket: Socket<Channel> | null = null;
  #hear: Hear | null = null;
  #unsent: Uint8Array | null = null;
  /** The beginning of a reply that came in several pieces. */
  #held: Buffer = Buffer.alloc(0);
  #heldLength = 0;
  /** Bytes of the reply that is coming, its head included; 0 = not known yet. */
  #expected = 0;

  private constructor(failed: (cause: Error) => void) {
    this.#failed = failed;
  }

  /** `failed` is told once if the connection breaks. */
  static async open(port: number, failed: (cause: Error) => void): Promise<Channel> {
    const channel = new Channel(failed);
    channel.#socket = await Bun.connect<Channel>({
      hostname: "127.0.0.1",
      port,
      data: channel,
      socket: handlers,
    });
    return channel;
  }

  send(request: Uint8Array, hear: Hear): void {
    this.#hear = hear;
    this.#unsent = request;
    this.drain();
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.end();
  }

  drain(): void {
    if (this.#unsent === null || this.#socket === null) return;
    const written = this.#socket.write(this.#unsent);
    this.#unsent = written < this.#unsent.length ? this.#unsent.subarray(written) : null;
  }

  fail(cause: Error): void {
    if (this.#socket === null) return;
    this.#socket = null;
    this.#failed(cause);
  }

  take(bytes: Buffer): void {
    if (this.#heldLength === 0) {
      this.#expected = this.#replyLength(bytes, bytes.length);
      if (this.#expected > 0 && bytes.length >= this.#expected) {
        this.#deliver(bytes);
        return;
      }
    }
    this.#hold(bytes);
    if (this.#expected === 0) this.#expected = this.#replyLength(this.#held, this.#heldLength);
    if (this.#expected === 0 || this.#heldLength < this.#expected) return;
    this.#heldLength = 0;
    this.#deliver(this.#held);
  }

  #hold(bytes: Buffer): void {
    const length = this.#heldLength + bytes.length;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(length * 2, this.#expected));
      this.#held.copy(larger, 0, 0, this.#heldLength);
      this.#held = larger;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = length;
  }

  #deliver(bytes: Buffer): void {
    const reply = this.#reply;
    reply.bytes = bytes;
    reply.start = this.#head.end;
    reply.end = this.#expected;
    reply.status =
      ((bytes[9] ?? 0) - digitZero) * 100 +
      ((bytes[10] ?? 0) - digitZero) * 10 +
      ((bytes[11] ?? 0) - digitZero);
    const hear = this.#hear;
    this.#hear = null;
    hear?.(reply);
  }

  /** Head and body together; 0 while the head is not complete. */
  #replyLength(bytes: Buffer, available: number): number {
    const head = this.#head;
    if (!isHeadEnd(bytes, head.end, available)) {
      const at = bytes.indexOf("\r\n\r\n");
      if (at < 0 || at + 4 > available) return 0;
      head.end = at + 4;
    }
    let at = head.lengthAt;
    if (at === 0 || bytes[at - 1] !== blank || bytes[at - 2] !== colon || bytes[at - 3] !== 0x68) {
      const found = /content-length: /i.exec(bytes.toString("latin1", 0, head.end));
      if (found === null) throw new Error("a reply has no content-length");
      at = found.index + found[0].length;
      head.lengthAt = at;
    }
    let length = 0;
    for (; bytes[at] !== carriageReturn; at += 1) {
      length = length * 10 + (bytes[at] ?? 0) - digitZero;
    }
    return head.end + length;
  }
}

function isHeadEnd(bytes: Buffer, end: number, available: number): boolean {
  return (
    end >= 4 &&
    end <= available &&
    bytes[end - 1] === 10 &&
    bytes[end - 2] === carriageReturn &&
    bytes[end - 3] === 10 &&
    bytes[end - 4] === carriageReturn
  );
}

const handlers = {
  data: (socket: Socket<Channel>, bytes: Buffer) => socket.data.take(bytes),
  drain: (socket: Socket<Channel>) => socket.data.drain(),
  close: (socket: Socket<Channel>) =>
    socket.data.fail(new Error("the server closed the connection")),
  error: (socket: Socket<Channel>, cause: Error) => socket.data.fail(cause),
};

/** A request as it goes over the wire; `headers`: more of them, each with its line end. */
export function requestBytes(port: number, path: string, body: string, headers = ""): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
      `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** The same with promises and texts, for what is not measured; one request at a time as well. */
export class Connection {
  readonly #port: number;
  #channel: Channel | null = null;
  #failure: Error | null = null;
  #reject: ((cause: Error) => void) | null = null;

  private constructor(port: number) {
    this.#port = port;
  }

  static async open(port: number): Promise<Connection> {
    const connection = new Connection(port);
    connection.#channel = await Channel.open(port, (cause) => {
      connection.#failure = cause;
      connection.#reject?.(cause);
    });
    return connection;
  }

  /** The server has hung up, as it does on who is silent for long. */
  get isBroken(): boolean {
    return this.#failure !== null;
  }

  /** `headers`: more than a call always has, each with its line end. */
  post(path: string, body: string, headers = ""): Promise<Reply> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#channel?.send(
        requestBytes(this.#port, path, body, headers),
        ({ status, bytes, start, end }) => {
          this.#reject = null;
          resolve({ status, body: bytes.toString("utf8", start, end) });
        },
      );
    });
  }

  /** The body of a 200; throws on anything else. */
  async call(path: string, body: object): Promise<unknown> {
    const reply = await this.post(path, JSON.stringify(body));
    if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}; ${reply.body}`);
    return JSON.parse(reply.body);
  }

  close(): void {
    this.#reject = null;
    this.#channel?.close();
  }
}
