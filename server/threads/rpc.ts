// Remote procedure calls between threads: a method of a target is called by name, and arguments and
// results are passed by structured clone.

import { type Failure, QueueError } from "../../engine/model/errors.ts";
import { StoreError, type StoreFault } from "../../stores/store.ts";
import { ListenError } from "../http/connections/listen.ts";

/** An error as data, because a structured clone loses its class. */
type Thrown =
  | { readonly is: "queue"; readonly failure: Failure }
  | {
      readonly is: "store";
      readonly fault: StoreFault;
      readonly message: string;
      readonly cause: string;
    }
  | {
      readonly is: "listen";
      readonly code: string;
      readonly cause: string;
      readonly host: string;
      readonly port: number;
    }
  | { readonly is: "bug"; readonly message: string };

/** The thread as a whole, or one of its shards by number. */
export type Target = "thread" | number;

/** The methods of each target, by name. */
export type Targets = ReadonlyMap<Target, object>;

export type RpcMessage =
  | {
      readonly kind: "call";
      readonly number: number;
      readonly target: Target;
      readonly method: string;
      readonly given: readonly unknown[];
    }
  | { readonly kind: "result"; readonly number: number; readonly value: unknown }
  | { readonly kind: "error"; readonly number: number; readonly thrown: Thrown };

type RpcCall = Extract<RpcMessage, { kind: "call" }>;

/** One end of the connection; each end may call the other. */
export class Rpc {
  readonly #send: (message: RpcMessage) => void;
  readonly #targets: Targets;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  /** `targets`: the methods that the other end may call. */
  constructor(send: (message: RpcMessage) => void, targets: Targets) {
    this.#send = send;
    this.#targets = targets;
  }

  /** Rejects with the other end's error; a `QueueError`, `StoreError`, `ListenError` as such. */
  async call(target: Target, method: string, ...given: readonly unknown[]): Promise<unknown> {
    this.#last += 1;
    const number = this.#last;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(number, waiting);
    try {
      this.#send({ kind: "call", number, target, method, given });
    } catch (error) {
      // An argument could not be cloned.
      this.#waiting.delete(number);
      throw error;
    }
    return await waiting.promise;
  }

  /** A proxy for the methods of a target at the other end. */
  remote<Methods extends object>(target: Target): Methods {
    return new Proxy({} as Methods, {
      get:
        (_, method: string) =>
        (...given: readonly unknown[]) =>
          this.call(target, method, ...given),
    });
  }

  receive(message: RpcMessage): void {
    if (message.kind === "call") {
      void this.#do(message);
      return;
    }
    const waiting = this.#waiting.get(message.number);
    this.#waiting.delete(message.number);
    if (message.kind === "result") waiting?.resolve(message.value);
    else waiting?.reject(errorOf(message.thrown));
  }

  async #do({ number, target, method, given }: RpcCall): Promise<void> {
    try {
      const methods = (this.#targets.get(target) ?? {}) as Readonly<Record<string, unknown>>;
      const call = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (typeof call !== "function") throw new Error(`a thread has no method '${method}'`);
      this.#send({ kind: "result", number, value: await call(...given) });
    } catch (error) {
      this.#send({ kind: "error", number, thrown: thrownOf(error) });
    }
  }
}

function thrownOf(error: unknown): Thrown {
  if (error instanceof QueueError) return { is: "queue", failure: error.failure };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StoreError) {
    const cause = error.cause instanceof Error ? error.cause.message : "";
    return { is: "store", fault: error.fault, message, cause };
  }
  if (error instanceof ListenError) {
    const { code, host, port } = error;
    const cause = error.cause instanceof Error ? error.cause.message : String(error.cause);
    return { is: "listen", code, cause, host, port };
  }
  return { is: "bug", message: error instanceof Error ? (error.stack ?? message) : message };
}

function errorOf(thrown: Thrown): Error {
  switch (thrown.is) {
    case "queue":
      return QueueError.from(thrown.failure);
    case "store": {
      const { fault, message, cause } = thrown;
      return new StoreError(fault, message, cause === "" ? undefined : new Error(cause));
    }
    case "listen": {
      const { code, cause } = thrown;
      return new ListenError(Object.assign(new Error(cause), code !== "" && { code }), thrown);
    }
    case "bug":
      return new Error(`a thread failed; ${thrown.message}`);
  }
}
