// Logs each request at level `debug`: API key, operation, queue, code of the reply and duration. At
// other levels it is not created, so that requests do not pay for it.

import type { Log } from "./log.ts";
import { operationByPath } from "./request-counts.ts";

/** Facts on a request that become known while it is in progress. */
interface Notes {
  /** Name of the API key. */
  readonly key?: string;
  readonly queue?: string;
}

export interface RequestOutcome {
  readonly path: string;
  readonly code: number;
  readonly seconds: number;
}

/** Bounds unvalidated text of a client. */
const textMax = 80;

export class RequestLog {
  readonly #log: Log;
  readonly #notes = new WeakMap<Request, Notes>();

  constructor(log: Log) {
    this.#log = log;
  }

  noteKey(request: Request, key: string): void {
    this.#notes.set(request, { ...this.#notes.get(request), key });
  }

  /** Not every operation has a queue. */
  noteQueue(request: Request, body: object): void {
    if (!("queue_name" in body) || typeof body.queue_name !== "string") return;
    const queue = body.queue_name.slice(0, textMax);
    this.#notes.set(request, { ...this.#notes.get(request), queue });
  }

  answered(request: Request, { path, code, seconds }: RequestOutcome): void {
    const operation = operationByPath.get(path) ?? path.slice(0, textMax);
    const ms = Math.round(seconds * 100_000) / 100;
    this.#log.debug("request", { operation, ...this.#notes.get(request), code, ms });
  }
}
