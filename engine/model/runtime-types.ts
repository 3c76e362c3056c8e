// Run-time checks that a value has the form of its type.

import { refuse } from "./validate.ts";

/** Returns the value if it has the shape; otherwise throws `invalid` with its path. */
export type Shape<T> = (value: unknown, path: string) => T;

/** One shape per key; the shape of an optional key has to accept `undefined`. */
type Fields<T> = {
  readonly [Key in keyof T]-?: object extends Pick<T, Key>
    ? Shape<T[Key] | undefined>
    : Shape<T[Key]>;
};

export const text = shape("a string", (value) => typeof value === "string");
export const flag = shape("true or false", (value) => typeof value === "boolean");
/** The engine checks bounds, and whether the number is whole. */
export const number = shape("a number", (value) => typeof value === "number");
/** A store's column holds no fractions. */
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

/** Keeps a message to one line. */
const shownMax = 40;

function shown(value: unknown): string {
  if (typeof value === "string") return `'${value.slice(0, shownMax)}'`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : Object.prototype.toString.call(value).slice(8, -1);
}

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
    // By index, so that the holes of a sparse array are refused too.
    for (let index = 0; index < value.length; index += 1) inner(value[index], `${path}[${index}]`);
    return value;
  };
}

/** Refuses unknown keys, because they are unnoticed typing errors. */
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
