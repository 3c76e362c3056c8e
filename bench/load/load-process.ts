// The benchmark's client of the load generator process.

import { join } from "node:path";
import type { CallTimes } from "../report/statistics.ts";
import type { Command, CommandResult, Phase, PhaseResult, ThreadedWork, Work } from "./commands.ts";

export class LoadProcess {
  readonly #child: Bun.Subprocess;
  #settle: { resolve: (result: CommandResult) => void; reject: (cause: Error) => void } | null =
    null;

  private constructor() {
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, "generator.ts")], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (result: CommandResult) => this.#settle?.resolve(result),
      onExit: () => this.#settle?.reject(new Error("the load generator ended by itself")),
    });
  }

  static async start(): Promise<LoadProcess> {
    const load = new LoadProcess();
    await load.#result();
    return load;
  }

  #result(): Promise<CommandResult> {
    return new Promise<CommandResult>((resolve, reject) => {
      this.#settle = { resolve, reject };
    }).then((result) => {
      this.#settle = null;
      if (result.kind === "failed") throw new Error(result.message);
      return result;
    });
  }

  #send(command: Command): Promise<CommandResult> {
    const result = this.#result();
    this.#child.send(command);
    return result;
  }

  /** Opens the connections and prepares the requests. */
  async prepare(port: number, work: Work | ThreadedWork): Promise<void> {
    await this.#send({ kind: "prepare", port, work });
  }

  async run(phase: Phase): Promise<PhaseResult> {
    const result = await this.#send({ kind: "run", phase });
    if (result.kind !== "ran") throw new Error(`the load generator answered '${result.kind}'`);
    return result.result;
  }

  /** Measures from a produce to the waiting lease, `times` times in sequence. */
  async wake(target: { port: number; queue: string; times: number }): Promise<CallTimes> {
    const result = await this.#send({ kind: "wake", ...target });
    if (result.kind !== "woken") throw new Error(`the load generator answered '${result.kind}'`);
    return result.times;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}
