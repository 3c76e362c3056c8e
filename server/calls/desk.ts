// The engine's end of a line: does what is asked, and gathers the answers of one round of events.

import { QueueError } from "../../engine/model/errors.ts";
import type { OperationId } from "../../openapi/operations.ts";
import type { Log } from "../log.ts";
import { Refusal } from "../reply.ts";
import { Caller, JsonText, jsonText, type Route, type Routes } from "../routes/route.ts";
import type { Answer, Answered, Asked, Call } from "./call.ts";
import type { Soon } from "./line.ts";

export interface DeskOptions {
  readonly answer: (call: Call, caller: Caller) => Promise<Answer>;
  readonly send: (answers: readonly Answered[]) => void;
  readonly log: Log;
  /** Default `setImmediate`. */
  readonly soon?: Soon;
}

export class Desk {
  readonly #options: DeskOptions;
  readonly #calls = new Map<number, AbortController>();
  #answers: Answered[] = [];
  #isOver = false;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Nothing is being done, and all was answered. */
  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#answers.length === 0;
  }

  heard(asked: readonly Asked[]): void {
    for (const { number, call } of asked) {
      if (call === null) this.#calls.get(number)?.abort();
      else void this.#do(number, call);
    }
  }

  async #do(number: number, call: Call): Promise<void> {
    const controller = new AbortController();
    this.#calls.set(number, controller);
    const answer = await this.#answerOf(call, controller);
    this.#calls.delete(number);
    this.#answers.push({ number, answer });
    if (this.#answers.length > 1) return;
    const { soon = setImmediate } = this.#options;
    soon(() => {
      const answers = this.#answers;
      this.#answers = [];
      if (!this.#isOver) this.#options.send(answers);
    });
  }

  async #answerOf(call: Call, client: AbortController): Promise<Answer> {
    const { answer, log } = this.#options;
    try {
      const { requestKey, grant = null } = call;
      return await answer(call, new Caller({ client, requestKey, grant }));
    } catch (error) {
      log.error("forwarded call failed", error);
      return { is: "failed" };
    }
  }

  /** The line broke: nobody waits for answers any more. */
  end(): void {
    this.#isOver = true;
    for (const controller of this.#calls.values()) controller.abort();
  }
}

/** What a route says to a call, as an answer. */
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

/** Throws what was not meant for the caller. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof Refusal) {
    return { is: "refusal", reason: error.reason, message: error.message };
  }
  if (!(error instanceof QueueError)) throw error;
  const { code, reason, message, details } = error;
  const failure = { ok: false, code, reason, message, ...(details && { details }) } as const;
  return { is: "failure", failure };
}

/** Does the call by the routes. */
export function answerBy(
  routes: Routes,
): (call: Call & { readonly operation: OperationId }, caller: Caller) => Promise<Answer> {
  return ({ operation, body }, caller) => {
    const route = routes[operation] as Route<OperationId>;
    return answerOf(route(JSON.parse(body), caller), caller);
  };
}

/** The reply that was answered; throws what was thrown there. */
export function replyOf(answer: Answer, caller: Caller): JsonText {
  switch (answer.is) {
    case "done":
      caller.isReplayed = answer.isReplayed;
      return new JsonText(answer.text);
    case "failure":
      throw QueueError.from(answer.failure);
    case "refusal":
      throw new Refusal(answer.reason, answer.message);
    case "moved":
    case "lost":
    case "failed":
      throw new Error("whoever has the engine could not do the call");
  }
}
