import type { Auditor } from "./auditor.ts";
import type { Bundle } from "./bundle.ts";
import type { Explanations } from "./explanations.ts";
import type { Histories } from "./histories.ts";
import type { Parameters } from "./parameters.ts";
import type { Situations } from "./situations.ts";
import type { TaskCalls } from "./task-calls.ts";

/** The parts of a world that its census and its drain phase use. */
export interface WorldParts {
  readonly parameters: Parameters;
  readonly auditor: Auditor;
  readonly bundle: Bundle;
  readonly situations: Situations;
  readonly histories: Histories;
  readonly explanations: Explanations;
  readonly tasks: TaskCalls;
  readonly now: number;
  /** No engine has an earlier time than this. */
  readonly earliest: number;
  readonly drainSteps: DrainSteps;
  pass(ms: number): Promise<void>;
}

/** The time between the rounds of consumers, and before the last rounds. */
export interface DrainSteps {
  readonly steps: readonly number[];
  readonly lastMs: number;
}
