// Performs the calls of one `CallClient` in the thread or node of the engine, and sends the answers
// of one round of events as one frame.

import { QueueError } from "../../engine/model/errors.ts";
import type { OperationId } from "../../openapi/operations.ts";
import { HttpError } from "../http/reply.ts";
import type { Log } from "../observability/log.ts";
import { Caller, JsonText, jsonText, type Route, type Routes } from "../routes/route.ts";
import type { Answer, Call, NumberedAnswer } from "./call.ts";
import { decodeCalls, encodeAnswers } from "./frame.ts";

export interface CallServerOptions {
  readonly answer: (call: Call, caller: Caller) => Promise<Answer>;
  readonly send: (frame: string) => void;
  readonly log: Log;
  /** Default `setImmediate`. */
  readonly nextTick?: (run: () => void) => void;
}

export class CallServer {
  readonly #options: CallServerOptions;
  readonly #clients = new Map<number, ForwardedClient>();
  #answers: NumberedAnswer[] = [];
  #isOver = false;

  constructor(options: CallServerOptions) {
    this.#options = options;
  }

  /** No call is running, and all answers were sent. */
  get isIdle(): boolean {
    return this.#clients.size === 0 && this.#answers.length === 0;
  }

  /** Throws, and begins no call, if the frame is malformed. */
  receive(frame: string): void {
    for (const { number, call } of decodeCalls(frame)) {
      if (call === null) this.#clients.get(number)?.hangUp();
      else void this.#do(number, call);
    }
  }

  async #do(number: number, call: Call): Promise<void> {
    const client = new ForwardedClient();
    this.#clients.set(number, client);
    const { requestKey, identity = null } = call;
    let answer: Answer;
    try {
      answer = await this.#options.answer(call, new Caller({ client, requestKey, identity }));
    } catch (error) {
      this.#options.log.error("forwarded call failed", error);
      answer = { is: "failed" };
    }
    this.#clients.delete(number);
    this.#answers.push({ number, answer });
    if (this.#answers.length > 1) return;
    const { nextTick = setImmediate } = this.#options;
    nextTick(() => {
      const answers = this.#answers;
      this.#answers = [];
      if (!this.#isOver) this.#options.send(encodeAnswers(answers));
    });
  }

  /** The connection has ended: aborts all calls, and sends no more answers. */
  end(): void {
    this.#isOver = true;
    for (const client of this.#clients.values()) client.hangUp();
  }
}

/** The client of a forwarded call; most operations never read its signal, so it is created late. */
class ForwardedClient {
  #controller: AbortController | null = null;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  hangUp(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

/** Converts the outcome of a route to an answer. */
export async function answerOf(work: Promise<unknown>, caller: Caller): Promise<Answer> {
  try {
    return doneAnswer(await work, caller);
  } catch (error) {
    return errorAnswer(error);
  }
}

export function doneAnswer(reply: unknown, { isReplayed }: Caller): Answer {
  return { is: "done", text: jsonText(reply), isReplayed };
}

/** Rethrows errors that are not meant for the caller. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof HttpError) {
    return { is: "refusal", reason: error.reason, message: error.message };
  }
  if (!(error instanceof QueueError)) throw error;
  return { is: "failure", failure: error.failure };
}

type Answerer = (call: Call, caller: Caller) => Promise<Answer>;

/** Performs calls with these routes. */
export function answerBy(routes: Partial<Routes>): Answerer {
  return async ({ operation, body }, caller) => {
    const route = routes[operation as OperationId] as Route<OperationId> | undefined;
    if (route === undefined) throw new Error(`${operation} was sent to the wrong end`);
    return await answerOf(route(JSON.parse(body), caller), caller);
  };
}

/** Performs each call with the routes of its shard. */
export function answerByShard(routes: ReadonlyMap<number | null, Partial<Routes>>): Answerer {
  const answers = new Map([...routes].map(([shard, own]) => [shard, answerBy(own)]));
  return async (call, caller) => {
    const answer = answers.get(call.shard);
    if (answer === undefined)
      throw new Error(`a call for shard ${call.shard} was sent to the wrong end`);
    return await answer(call, caller);
  };
}

/** Returns the reply, or throws the error that was thrown at the other end. */
export function replyOf(answer: Answer, caller: Caller): JsonText {
  switch (answer.is) {
    case "done":
      caller.isReplayed = answer.isReplayed;
      return new JsonText(answer.text);
    case "failure":
      throw QueueError.from(answer.failure);
    case "refusal":
      throw new HttpError(answer.reason, answer.message);
    case "moved":
    case "lost":
    case "failed":
      throw new Error("the other end failed to perform the call");
  }
}
