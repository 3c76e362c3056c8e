// What a program may say of a client, a worker or a call: an option that is misspelt or of another kind
// would otherwise be left out in silence.

import { didYouMean } from "../openapi/did-you-mean.ts";
import { kindOf } from "./shown.ts";

/** What an option has to be, in words; `null` = it is. */
type Check = (value: unknown) => string | null;

/** One for each option, so that an option that is added does not compile without. */
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
/** A length of time; an infinite one is never over. */
export const length = of("milliseconds from 0", (value) => typeof value === "number" && value >= 0);
/** Infinite: without a bound. */
export const count = of("a number from 1", (value) => typeof value === "number" && value >= 1);
export const object = of("an object", (value) => typeof value === "object" && value !== null);
/** Checked where it is used. */
export const anything = of("", () => true);

/**
 * Throws a `TypeError` for an option that there is not, or that is not what it has to be. `inner`: names
 * that are not for programs.
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
