// A TCP connection for text protocols that answer in order. It sends many requests in one write and
// reads the replies as they arrive. It does as little as possible, so that the server is measured.

import type { Socket } from "bun";

/** Reads one reply at `start`; `null` = incomplete. */
export type ReadReply<Reply> = (
  text: string,
  start: number,
) => { readonly reply: Reply; readonly end: number } | null;

interface Waiting<Reply> {
  readonly count: number;
  readonly replies: Reply[];
  readonly resolve: (replies: Reply[]) => void;
  readonly reject: (cause: Error) => void;
}

/** Text is latin1: one character per byte, so lengths and positions equal those on the wire. */
export class Pipeline<Reply> {
  readonly #read: ReadReply<Reply>;
  #socket: Socket | null = null;
  #received = "";
  #unsent: Buffer | null = null;
  #failed: Error | null = null;
  #waiting: Waiting<Reply> | null = null;

  private constructor(read: ReadReply<Reply>) {
    this.#read = read;
  }

  static async open<Reply>(port: number, read: ReadReply<Reply>): Promise<Pipeline<Reply>> {
    const pipeline = new Pipeline(read);
    pipeline.#socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_socket, bytes) => pipeline.#receive(bytes),
        drain: () => pipeline.#drain(),
        close: () => pipeline.#fail(new Error("the server closed the connection")),
        error: (_socket, cause) => pipeline.#fail(cause),
      },
    });
    return pipeline;
  }

  /** Sends requests and resolves with that many replies; one call at a time. */
  call(requests: string, count: number): Promise<Reply[]> {
    if (this.#failed !== null) return Promise.reject(this.#failed);
    return new Promise((resolve, reject) => {
      this.#waiting = { count, replies: [], resolve, reject };
      this.#unsent = Buffer.from(requests, "latin1");
      this.#drain();
    });
  }

  close(): void {
    this.#waiting = null;
    this.#socket?.end();
  }

  #fail(cause: Error): void {
    this.#failed = cause;
    this.#waiting?.reject(cause);
  }

  #drain(): void {
    if (this.#unsent === null || this.#socket === null) return;
    const written = this.#socket.write(this.#unsent);
    this.#unsent = written < this.#unsent.length ? this.#unsent.subarray(written) : null;
  }

  #receive(bytes: Buffer): void {
    const text = this.#received + bytes.toString("latin1");
    const waiting = this.#waiting;
    let position = 0;
    while (waiting !== null && waiting.replies.length < waiting.count) {
      const next = this.#read(text, position);
      if (next === null) break;
      waiting.replies.push(next.reply);
      position = next.end;
    }
    this.#received = text.slice(position);
    if (waiting !== null && waiting.replies.length === waiting.count) {
      this.#waiting = null;
      waiting.resolve(waiting.replies);
    }
  }
}
