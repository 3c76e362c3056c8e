// Checks the options of clients, workers and calls. Otherwise a misspelt or wrong option would be
// ignored silently.

import { bounds } from "../openapi/bounds.ts";
import { didYouMean } from "../openapi/did-you-mean.ts";
import { kindOf } from "./format-error.ts";

/** Returns what the option must be, as text; `null` = the value is valid. */
type Check = (value: unknown) => string | null;

/** A check for each option, so that a new option does not compile without one. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

const of =
  (expected: string, isIt: (value: unknown) => boolean): Check =>
  (value) =>
    isIt(value) ? null : expected;

export const text = of("a text", (value) => typeof value === "string");
export const flag = of("true or false", (value) => typeof value === "boolean");
export const call = of("a function", (value) => typeof value === "function");
export const values = of("a list", Array.isArray);
export const signal = of(
  "an AbortSignal",
  (value) => typeof value === "object" && value !== null && "aborted" in value,
);
/** A duration; may be infinite. */
export const length = of("milliseconds from 0", (value) => typeof value === "number" && value >= 0);
export const priority = of(
  `a whole number from 0 to ${bounds.priorityMax}`,
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= bounds.priorityMax,
);
/** May be infinite: no limit. */
export const count = of("a number from 1", (value) => typeof value === "number" && value >= 1);
export const object = of("an object", (value) => typeof value === "object" && value !== null);
/** Checked where it is used. */
export const anything = of("", () => true);

/**
 * Throws a `TypeError` for an unknown or invalid option. `inner`: names that the error does not
 * offer, because they are not for programs.
 */
export function checkOptions<Options extends object>(
  options: Options,
  checks: Checks<Options>,
  inner: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(checks, name)) {
      const names = Object.keys(checks).filter((known) => !inner.includes(known));
      const near = didYouMean(name, names);
      throw new TypeError(`option '${name}' is unknown${near}; expected ${names.join(", ")}`);
    }
    const expected = checks[name as keyof Options](value);
    if (expected !== null) {
      throw new TypeError(`${name} is invalid; expected ${expected}, got ${kindOf(value)}`);
    }
  }
}
