// Bytes sent to a port as they are, and what came back. It speaks no HTTP beyond
// finding the end of an answer, so nothing is put right on the way.

import { connect, type Socket } from "node:net";

/** `closed`: without an answer. `hangs`: neither answered nor closed, though the client was done. */
export type Outcome = number | "closed" | "hangs";

export interface Exchange {
  readonly outcome: Outcome;
  /** Head and body of the first answer that is no interim one. */
  readonly text: string;
}

export interface ExchangeOptions {
  readonly port: number;
  readonly bytes: Uint8Array;
  /** After this long without an answer the client says that no more will come. */
  readonly quietMs?: number;
  /** After this long more, it hangs. */
  readonly patienceMs?: number;
}

const host = "127.0.0.1";

/** Errors of a socket say that it is closed, which is heard anyhow. */
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
    // What was cut short is as good as none.
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

/** `null` = it is not whole yet. */
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
