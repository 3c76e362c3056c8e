// The connection of two threads: the calls of clients go over it as frames, and all else as messages.

import type { Answer, Call } from "../calls/call.ts";
import { CallClient } from "../calls/call-client.ts";
import { CallServer, replyOf } from "../calls/call-server.ts";
import { areCalls } from "../calls/frame.ts";
import type { Log } from "../observability/log.ts";
import type { Caller, JsonText } from "../routes/route.ts";
import { Rpc, type RpcMessage, type Targets } from "./rpc.ts";

/** A `MessagePort`, or one end of a worker. */
export interface LinkPort {
  postMessage(message: string | RpcMessage): void;
}

export interface LinkOptions {
  readonly port: LinkPort;
  /** Answers the calls that come over it. */
  readonly answer: (call: Call, caller: Caller) => Promise<Answer>;
  /** What the other thread may ask for beside calls. */
  readonly targets: Targets;
  readonly log: Log;
}

export class Link {
  readonly rpc: Rpc;
  readonly #client: CallClient;
  readonly #server: CallServer;

  constructor({ port, answer, targets, log }: LinkOptions) {
    const send = (message: string | RpcMessage): void => port.postMessage(message);
    this.rpc = new Rpc(send, targets);
    this.#client = new CallClient(send);
    this.#client.open();
    this.#server = new CallServer({ answer, send, log });
  }

  receive(message: string | RpcMessage): void {
    if (typeof message !== "string") this.rpc.receive(message);
    else if (areCalls(message)) this.#server.receive(message);
    else this.#client.receive(message);
  }

  /** The reply of the other thread; throws what was thrown there. */
  async ask(call: Call, caller: Caller): Promise<JsonText> {
    const answer = await this.#client.call(call, caller);
    if (answer.is === "unsent") throw new Error("a thread is gone");
    return replyOf(answer, caller);
  }
}
