// A keep-alive HTTP/1.1 client that does as little as possible, so that what is
// measured is the server: one request at a time per connection, bodies as text.

import type { Socket } from "bun";

interface Reply {
  readonly status: number;
  readonly body: string;
}

const headerEnd = new TextEncoder().encode("\r\n\r\n");

/** One connection; `post` may be called again once the last reply has come. */
export class Connection {
  readonly #host: string;
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #unsent: Buffer | null = null;
  #failed: Error | null = null;
  #settle: { resolve: (reply: Reply) => void; reject: (cause: Error) => void } | null = null;

  private constructor(host: string) {
    this.#host = host;
  }

  static async open(port: number): Promise<Connection> {
    const connection = new Connection(`127.0.0.1:${port}`);
    connection.#socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_socket, bytes) => connection.#hear(bytes),
        drain: () => connection.#drain(),
        close: () => connection.#fail(new Error("the server closed the connection")),
        error: (_socket, cause) => connection.#fail(cause),
      },
    });
    return connection;
  }

  post(path: string, body: string): Promise<Reply> {
    const bytes = Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    if (this.#failed !== null) return Promise.reject(this.#failed);
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#unsent = bytes;
      this.#drain();
    });
  }

  close(): void {
    this.#settle = null;
    this.#socket?.end();
  }

  #fail(cause: Error): void {
    this.#failed = cause;
    this.#settle?.reject(cause);
  }

  #drain(): void {
    if (this.#unsent === null || this.#socket === null) return;
    const written = this.#socket.write(this.#unsent);
    this.#unsent = written < this.#unsent.length ? this.#unsent.subarray(written) : null;
  }

  #hear(bytes: Buffer): void {
    this.#received =
      this.#received.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#received, bytes]);
    const head = this.#received.indexOf(headerEnd);
    if (head < 0) return;
    const headers = this.#received.toString("latin1", 0, head);
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
    const end = head + headerEnd.length + length;
    if (this.#received.length < end) return;
    const body = this.#received.toString("utf8", head + headerEnd.length, end);
    this.#received = this.#received.subarray(end);
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve({ status: Number(headers.slice(9, 12)), body });
  }
}
