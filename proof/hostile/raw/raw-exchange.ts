// Sends bytes to a port unchanged and returns the answer. It parses HTTP only to find the end of an
// answer, so it corrects nothing.

import { connect, type Socket } from "node:net";

/**
 * `closed`: closed without an answer. `hangs`: neither answered nor closed after the client had
 * finished.
 */
export type Outcome = number | "closed" | "hangs";

export interface Exchange {
  readonly outcome: Outcome;
  /** Head and body of the first final (not 1xx) answer. */
  readonly text: string;
}

export interface ExchangeOptions {
  readonly port: number;
  readonly bytes: Uint8Array;
  /** After this many milliseconds without an answer, the client ends its side. */
  readonly quietMs?: number;
  /** After this many further milliseconds, the exchange counts as hanging. */
  readonly patienceMs?: number;
}

const host = "127.0.0.1";

/** Socket errors are ignored: the close event follows. */
export function openSocket(port: number): Socket {
  return connect({ port, host, allowHalfOpen: true }).on("error", () => undefined);
}

export function exchange(options: ExchangeOptions): Promise<Exchange> {
  const { port, bytes, quietMs = 2_000, patienceMs = 60_000 } = options;
  return new Promise((resolve) => {
    const socket = openSocket(port);
    const chunks: Buffer[] = [];
    let timer = setTimeout(() => {
      socket.end();
      timer = setTimeout(() => finish("hangs", ""), patienceMs);
    }, quietMs);
    const finish = (outcome: Outcome, text: string) => {
      clearTimeout(timer);
      socket.removeAllListeners("data");
      socket.destroy();
      resolve({ outcome, text });
    };
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      const answer = firstAnswer(Buffer.concat(chunks).toString("latin1"));
      if (answer !== null) finish(answer.status, answer.text);
    });
    // A truncated answer counts as none.
    const closed = () => finish("closed", Buffer.concat(chunks).toString("latin1"));
    socket.on("end", closed);
    socket.on("close", closed);
    socket.write(bytes);
  });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** `null` = incomplete. */
export function firstAnswer(text: string): Answer | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const bodyAt = headEnd + 4;
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? Number.NaN);
  if (status >= 100 && status < 200 && status !== 101) return firstAnswer(text.slice(bodyAt));
  const length = /\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1];
  const end = bodyAt + Number(length ?? 0);
  return text.length < end ? null : { status, text: text.slice(0, end) };
}
