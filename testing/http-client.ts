// A minimal keep-alive HTTP/1.1 client, so that measurements show the server: one request at a time
// per connection, requests prepared as bytes, replies read in place.

import type { Socket } from "bun";

export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** A reply in the client's buffer, valid only until the callback returns. */
export interface ReplyBytes {
  status: number;
  bytes: Buffer;
  /** The body is from `start` to `end`, exclusive. */
  start: number;
  end: number;
}

/** Receives the reply; never called before `send` has returned. */
export type ReplyListener = (reply: ReplyBytes) => void;

const carriageReturn = 13;
const digitZero = 48;
const blank = 32;
const colon = 58;

/** Offsets in the last head; those of the next head are nearly always equal. */
interface Head {
  lengthAt: number;
  end: number;
}

/** One connection; call `send` again only after the last reply. */
export class Channel {
  readonly #reply: ReplyBytes = { status: 0, bytes: Buffer.alloc(0), start: 0, end: 0 };
  readonly #head: Head = { lengthAt: 0, end: 0 };
  readonly #failed: (cause: Error) => void;
  #socket: Socket<Channel> | null = null;
  #hear: ReplyListener | null = null;
  #unsent: Uint8Array | null = null;
  /** The beginning of a reply that arrives in several pieces. */
  #held: Buffer = Buffer.alloc(0);
  #heldLength = 0;
  /** Length of the expected reply, its head included; 0 = not known yet. */
  #expected = 0;

  private constructor(failed: (cause: Error) => void) {
    this.#failed = failed;
  }

  /** `failed` is called once if the connection breaks. */
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

  send(request: Uint8Array, hear: ReplyListener): void {
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

  /** The length of head and body; 0 while the head is incomplete. */
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

/** The bytes of a request; `headers`: additional header lines, each with its line end. */
export function requestBytes(port: number, path: string, body: string, headers = ""): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
      `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/**
 * A client with promises and texts, for calls that are not measured; also one request at a time.
 */
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

  /** Whether the server closed the connection, as it does with idle ones. */
  get isBroken(): boolean {
    return this.#failure !== null;
  }

  /** `headers`: additional header lines, each with its line end. */
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
