// Connects two threads: clients' calls are sent as frames, everything else as messages of `rpc.ts`.

import type { Answer, Call } from "../calls/call.ts";
import { CallClient } from "../calls/call-client.ts";
import { CallServer, replyOf } from "../calls/call-server.ts";
import { areCalls } from "../calls/frame.ts";
import type { Log } from "../observability/log.ts";
import type { Caller, JsonText } from "../routes/route.ts";
import { Rpc, type RpcMessage, type Targets } from "./rpc.ts";

/** A `MessagePort`, or either side of a worker. */
export interface LinkPort {
  postMessage(message: string | RpcMessage): void;
}

export interface LinkOptions {
  readonly port: LinkPort;
  /** Answers the calls of the other thread. */
  readonly answer: (call: Call, caller: Caller) => Promise<Answer>;
  /** The methods that the other thread may call. */
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

  /** Resolves to the other thread's reply, or rejects with the error that was thrown there. */
  async call(call: Call, caller: Caller): Promise<JsonText> {
    const answer = await this.#client.call(call, caller);
    if (answer.is === "unsent") throw new Error("a thread has ended");
    return replyOf(answer, caller);
  }
}
