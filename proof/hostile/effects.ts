// A valid produce with a fault around it on the wire. An answer other than 200, or none, promises
// that no item was written; a 200 promises that one was. The check counts the items, because an
// answer alone proves neither.

import type { ConnectionReport } from "./connections.ts";
import { type Exchange, exchange } from "./raw/raw-exchange.ts";
import type { Target } from "./target.ts";

const crlf = "\r\n";
const queue = "effects";
const rounds = 3;
/** The client ends exchanges that never end; all others may take as long as a busy server needs. */
const endlessMs = 200;
const quietMs = 60_000;
const endless = ["a trailer of nonsense", "no last chunk", "a body that is too short"];

function produce(framing: string, after: string): string {
  const head = [
    "POST /v1/queue.produce HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    framing,
  ];
  return head.join(crlf) + crlf + crlf + after;
}

const body = JSON.stringify({ queue_name: queue, request_timeout: "1m", items: [{ utf8: "x" }] });
const length = `Content-Length: ${body.length}`;
const inChunks = "Transfer-Encoding: chunked";
const chunk = `${body.length.toString(16)}${crlf}${body}${crlf}`;
const whole = produce(length, body);

/** Bytes to send, by name. */
export const effects: Readonly<Record<string, string>> = {
  "in order": whole,
  "in order, in chunks": produce(inChunks, `${chunk}0${crlf}${crlf}`),
  "a trailer": produce(inChunks, `${chunk}0${crlf}X: y${crlf}${crlf}`),
  "a trailer that was announced": produce(
    `Trailer: X${crlf}${inChunks}`,
    `${chunk}0${crlf}X: y${crlf}${crlf}`,
  ),
  "a trailer of nonsense": produce(inChunks, `${chunk}0${crlf}nonsense`),
  "no last chunk": produce(inChunks, chunk),
  "a chunk of no number behind the body": produce(inChunks, `${chunk}zz${crlf}`),
  "a line's end behind the body": whole + crlf,
  "nonsense behind the body": `${whole}nonsense`,
  "a NUL behind the body": `${whole}\0`,
  "a second request": whole + whole,
  "a second request of another method": `${whole}GET /health HTTP/1.1${crlf}Host: localhost${crlf}${crlf}`,
  "half a second request": `${whole}POST /v1/queue`,
  "a second request without a host": `${whole}GET /health HTTP/1.1${crlf}${crlf}`,
  "a body that is too short": produce(`Content-Length: ${body.length + 1}`, body),
  "a body that is too long": produce(`Content-Length: ${body.length - 1}`, body),
};

export async function tryEffects(target: Target): Promise<ConnectionReport> {
  const faults: string[] = [];
  await target.create(queue);
  let confirmed = 0;
  for (const [name, text] of Object.entries(effects)) {
    for (let round = 0; round < rounds; round += 1) {
      const before = await target.stored(queue);
      const bytes = Buffer.from(text, "latin1");
      const answer = await exchange({
        ...{ port: target.port, bytes },
        quietMs: endless.includes(name) ? endlessMs : quietMs,
      });
      if (answer.outcome === 200) confirmed += 1;
      const written = (await target.stored(queue)) - before;
      const fault = faultOf(answer, written);
      if (fault !== null) faults.push(`${name}: ${fault}`);
    }
  }
  // An item may be written after the answer was sent.
  await target.canary();
  const written = await target.stored(queue);
  if (written !== confirmed) faults.push(`${confirmed} were answered 200, ${written} are there`);
  return { figures: { effects: Object.keys(effects).length * rounds }, faults };
}

function faultOf({ outcome }: Exchange, written: number): string | null {
  const expected = outcome === 200 ? 1 : 0;
  return written === expected ? null : `answered ${outcome}, ${written} items were written`;
}
