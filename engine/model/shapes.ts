// Whether a value that no compiler has checked has the form that its type says.

import { refuse } from "./validate.ts";

/** Returns the value if it is of the shape; throws `invalid` with its path otherwise. */
export type Shape<T> = (value: unknown, path: string) => T;

/** A shape for each key; one that may be absent has to allow `undefined`. */
type Fields<T> = {
  readonly [Key in keyof T]-?: object extends Pick<T, Key>
    ? Shape<T[Key] | undefined>
    : Shape<T[Key]>;
};

export const text = shape("a string", (value) => typeof value === "string");
export const flag = shape("true or false", (value) => typeof value === "boolean");
/** Whether it is whole, and in its bounds, the engine says. */
export const number = shape("a number", (value) => typeof value === "number");
/** A store's column takes no fraction. */
export const instant = shape(
  "a whole number of milliseconds since 1970",
  (value): value is number => Number.isSafeInteger(value),
);

export function shape<T>(expected: string, is: (value: unknown) => value is T): Shape<T> {
  return (value, path) => (is(value) ? value : mismatch(path, expected, value));
}

function mismatch(path: string, expected: string, value: unknown): never {
  const what = path === "" ? "argument" : path;
  if (value === undefined) refuse(`${what} is required; expected ${expected}, got undefined`);
  refuse(`${what} is invalid; expected ${expected}, got ${shown(value)}`);
}

/** A message is a line, not a dump. */
const shownMax = 40;

function shown(value: unknown): string {
  if (typeof value === "string") return `'${value.slice(0, shownMax)}'`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : Object.prototype.toString.call(value).slice(8, -1);
}

/** One of these words. */
export function word<T extends string>(...words: readonly T[]): Shape<T> {
  const expected = words.map((one) => `'${one}'`).join(" or ");
  return shape(expected, (value): value is T => words.some((one) => one === value));
}

export function optional<T>(inner: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined ? undefined : inner(value, path));
}

export function nullable<T>(inner: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? null : inner(value, path));
}

export function list<T>(inner: Shape<T>): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) mismatch(path, "an array", value);
    // By index: what a hole in it reads as is refused too.
    for (let index = 0; index < value.length; index += 1) inner(value[index], `${path}[${index}]`);
    return value;
  };
}

/** A key that is not in the table is refused: it would be a slip that nobody notices. */
export function object<T extends object>(fields: Fields<T>): Shape<T> {
  const shapes: [string, Shape<unknown>][] = Object.entries(fields);
  const names = shapes.map(([name]) => name);
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      mismatch(path, "an object", value);
    }
    const prefix = path === "" ? "" : `${path}.`;
    const unknown = Object.keys(value).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      refuse(`${prefix}${unknown} is unknown; expected one of ${names.join(", ")}`);
    }
    for (const [name, inner] of shapes) inner(Reflect.get(value, name), prefix + name);
    return value as T;
  };
}
