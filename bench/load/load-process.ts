// The benchmark's client of the load generator process.

import { join } from "node:path";
import type { CallTimes } from "../report/statistics.ts";
import type { Answer, Order, Phase, PhaseResult, ThreadedWork, Work } from "./orders.ts";

export class LoadProcess {
  readonly #child: Bun.Subprocess;
  #settle: { resolve: (answer: Answer) => void; reject: (cause: Error) => void } | null = null;

  private constructor() {
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, "generator.ts")], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (answer: Answer) => this.#settle?.resolve(answer),
      onExit: () => this.#settle?.reject(new Error("the load generator ended by itself")),
    });
  }

  static async start(): Promise<LoadProcess> {
    const load = new LoadProcess();
    await load.#answer();
    return load;
  }

  #answer(): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#settle = { resolve, reject };
    }).then((answer) => {
      this.#settle = null;
      if (answer.kind === "failed") throw new Error(answer.message);
      return answer;
    });
  }

  #ask(order: Order): Promise<Answer> {
    const answer = this.#answer();
    this.#child.send(order);
    return answer;
  }

  /** Opens the connections and prepares the requests. */
  async prepare(port: number, work: Work | ThreadedWork): Promise<void> {
    await this.#ask({ kind: "prepare", port, work });
  }

  async run(phase: Phase): Promise<PhaseResult> {
    const answer = await this.#ask({ kind: "run", phase });
    if (answer.kind !== "ran") throw new Error(`the load generator answered '${answer.kind}'`);
    return answer.result;
  }

  /** Measures from a produce to the waiting lease, `times` times in sequence. */
  async wake(target: { port: number; queue: string; times: number }): Promise<CallTimes> {
    const answer = await this.#ask({ kind: "wake", ...target });
    if (answer.kind !== "woken") throw new Error(`the load generator answered '${answer.kind}'`);
    return answer.times;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}
