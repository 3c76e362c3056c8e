// Puts one fault into a valid body: a value that breaks its schema, a meaningless text, or bytes
// that are not JSON.

import type { TSchema } from "@sinclair/typebox";
import { base64, durations, ids, instants, queueNames, texts, timeouts } from "./words.ts";

export interface Body {
  /** The fault and its place; `null` = none. */
  readonly fault: string | null;
  /** Whether it must be refused. A fault in an ignored key need not be. */
  readonly isRefused: boolean;
  readonly bytes: Uint8Array;
}

/** One way to break a value; `put` replaces the value in the body. */
interface Break {
  readonly what: string;
  readonly isRefused: boolean;
  readonly put: unknown;
}

interface Node {
  readonly path: string;
  readonly key: string;
  readonly value: unknown;
  readonly schema: TSchema;
  readonly isRequired: boolean;
  readonly replace: (next: unknown) => unknown;
}

/** A number that `JSON.stringify` does not write. */
const rawMark = (text: string) => `@raw ${text}@`;
const rawForm = /"@raw ([^@]*)@"/g;

const wrongTypes: readonly (readonly [string, unknown])[] = [
  ["a string", "5"],
  ["a number", 5],
  ["a list", []],
  ["a list of lists", [[[[]]]]],
  ["an object", {}],
  ["true", true],
  ["null", null],
];
const typeOf: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "a number",
  array: "a list",
  object: "an object",
  boolean: "true",
};
const oddNumbers = [
  "-0",
  "1.5",
  "1e999",
  "-1e999",
  "1e-999",
  "9007199254740993",
  "9223372036854775808",
];
const unknownKeys = ["__proto__", "constructor", "toString", "", "x", "\ud800", "k".repeat(5_000)];

/** Bodies that are not JSON, or that only look like the intended JSON. */
const breaksOfText: readonly {
  readonly what: string;
  readonly isRefused: boolean;
  readonly of: (text: string) => string | Uint8Array;
}[] = [
  { what: "no body", isRefused: true, of: () => "" },
  { what: "cut in half", isRefused: true, of: (text) => text.slice(0, text.length >> 1) },
  { what: "cut at its end", isRefused: true, of: (text) => text.slice(0, -1) },
  { what: "something behind it", isRefused: true, of: (text) => `${text}}` },
  { what: "two bodies", isRefused: true, of: (text) => text + text },
  { what: "a byte order mark", isRefused: true, of: (text) => `\ufeff${text}` },
  { what: "UTF-16", isRefused: true, of: (text) => Buffer.from(text, "utf16le") },
  { what: "not UTF-8", isRefused: true, of: (text) => Buffer.from(`${text}é`, "latin1") },
  { what: "a NUL behind it", isRefused: true, of: (text) => `${text}\0` },
  { what: "a comment", isRefused: true, of: (text) => `/* */${text}` },
  {
    what: "single quotes",
    isRefused: true,
    // Add a key, because the body may have none.
    of: (text) => text.replace("{", "{'a':1,").replaceAll('"', "'"),
  },
  { what: "in a list", isRefused: true, of: (text) => `[${text}]` },
  { what: "nested without end", isRefused: true, of: () => "[".repeat(100_000) },
  {
    what: "nested deeply",
    isRefused: true,
    of: () => `${'{"a":'.repeat(30_000)}0${"}".repeat(30_000)}`,
  },
  {
    what: "a key twice",
    isRefused: false,
    of: (text) => text.replace("{", '{"queue_name":"orders",'),
  },
  { what: "blanks around it", isRefused: false, of: (text) => ` \n\t\r${text}\n ` },
  {
    what: "10,000 keys",
    isRefused: true,
    of: () => JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, n]))),
  },
];

export function unbroken(body: unknown): Body {
  return { fault: null, isRefused: false, bytes: encoded(written(body)) };
}

/** `pick` selects the fault; the same `pick` breaks the same body in the same way. */
export function brokenOnce(schema: TSchema, body: unknown, pick: number): Body {
  // A fifth of the faults are in the bytes, which would be rare by their number.
  if (pick % 5 === 0) {
    const { what, isRefused, of } = chosen(breaksOfText, Math.floor(pick / 5));
    return { fault: what, isRefused, bytes: encoded(of(written(body))) };
  }
  const nodes = nodesOf({
    path: "",
    key: "",
    value: body,
    schema,
    isRequired: true,
    replace: (next) => next,
  });
  const node = chosen(nodes, Math.floor(pick / 5));
  const broken = chosen(breaksOf(node), Math.floor(pick / 5 / nodes.length));
  return {
    fault: `${node.path === "" ? "the body" : node.path}: ${broken.what}`,
    isRefused: broken.isRefused,
    bytes: encoded(written(node.replace(broken.put))),
  };
}

function nodesOf(node: Node): Node[] {
  const { path, value, schema, replace } = node;
  if (Array.isArray(value)) {
    return [
      node,
      ...value.flatMap((inner, index) =>
        nodesOf({
          path: `${path}[${index}]`,
          key: node.key,
          value: inner,
          schema: schema["items"],
          isRequired: true,
          replace: (next) => replace(value.with(index, next)),
        }),
      ),
    ];
  }
  if (typeof value !== "object" || value === null) return [node];
  const required: readonly string[] = schema["required"] ?? [];
  return [
    node,
    ...Object.entries(value).flatMap(([key, inner]) =>
      nodesOf({
        path: path === "" ? key : `${path}.${key}`,
        key,
        value: inner,
        schema: schema["properties"][key],
        isRequired: required.includes(key),
        replace: (next) => replace({ ...value, [key]: next }),
      }),
    ),
  ];
}

function breaksOf({ key, value, schema, isRequired }: Node): readonly Break[] {
  const choices: readonly TSchema[] = schema["type"] === undefined ? schema["anyOf"] : [schema];
  const allowed = choices.map((choice) => typeOf[choice["type"]]);
  const types = wrongTypes
    .filter(
      ([what]) =>
        !allowed.includes(what) && (what !== "a list of lists" || !allowed.includes("a list")),
    )
    // A key that may be absent may also be null, with the same meaning.
    .filter(([what]) => what !== "null" || isRequired)
    .map(([what, put]) => ({ what, isRefused: true, put }));
  const type: unknown = choices[0]?.["type"];
  if (type === "string") return [...types, ...breaksOfString(key)];
  if (type === "integer") return [...types, ...breaksOfInteger(schema)];
  if (type === "array" && Array.isArray(value)) return [...types, ...breaksOfList(schema, value)];
  if (type === "object") return [...types, ...breaksOfObject(schema, value as object)];
  return types;
}

function breaksOfObject(schema: TSchema, value: object): readonly Break[] {
  const required: readonly string[] = schema["required"] ?? [];
  const without = required.map((key) => {
    const { [key]: _, ...rest } = value as Record<string, unknown>;
    return { what: `${key} is missing`, isRefused: true, put: rest };
  });
  const more = unknownKeys.map((key) => ({
    what: `unknown key ${JSON.stringify(key.slice(0, 20))}`,
    isRefused: true,
    // `__proto__` in a literal would set the prototype.
    put: Object.defineProperty({ ...value }, key, { value: 1, enumerable: true }),
  }));
  return [...without, ...more];
}

function breaksOfList(schema: TSchema, value: readonly unknown[]): readonly Break[] {
  const [first] = value;
  const most: number | undefined = schema["maxItems"];
  return [
    { what: "a hole", isRefused: true, put: [...value, null] },
    ...(schema["minItems"] > 0 ? [{ what: "empty", isRefused: true, put: [] }] : []),
    ...(most === undefined
      ? []
      : [{ what: "one too many", isRefused: true, put: new Array(most + 1).fill(first ?? {}) }]),
    ...(first === undefined
      ? []
      : [{ what: "one twice", isRefused: false, put: [...value, first] }]),
  ];
}

function breaksOfInteger(schema: TSchema): readonly Break[] {
  const odd = oddNumbers.map((text) => ({
    what: text,
    // The value may be rounded to an allowed whole number.
    isRefused: ["1.5", "1e999", "-1e999"].includes(text),
    put: rawMark(text),
  }));
  const { minimum, maximum } = schema;
  return [
    ...odd,
    ...(minimum === undefined ? [] : [{ what: "too little", isRefused: true, put: minimum - 1 }]),
    ...(maximum === undefined ? [] : [{ what: "too much", isRefused: true, put: maximum + 1 }]),
  ];
}

const words = ["readY", "ready ", "ready,leased", "__proto__", "constructor", "\u0000"];

/** Meaningless values for texts with a meaning, by key; `null` = any text is valid. */
const nonsense: Readonly<Record<string, readonly string[]>> = {
  queue_name: [...queueNames.bad, ...queueNames.odd],
  name: [...queueNames.bad, ...queueNames.odd],
  dead_queue: [...queueNames.bad, ...queueNames.odd],
  request_timeout: durations.bad,
  lease_timeout: timeouts.bad,
  expire_timeout: timeouts.bad,
  enqueue_at: instants.bad,
  retry_at: instants.bad,
  lease_deadline: instants.bad,
  expire_deadline: instants.bad,
  dead_deadline: instants.bad,
  created_at: instants.bad,
  updated_at: instants.bad,
  bytes: base64.bad,
  payload: base64.bad,
  id: ids.bad,
  ids: ids.bad,
  pivot: ids.bad,
  state: words,
  death: words,
  by: words,
  to_queue: [...queueNames.bad, ...queueNames.odd],
  task_id: ids.bad,
  origin_id: ids.bad,
  origin_created_at: instants.bad,
  created_before: instants.bad,
};

/** Keys whose meaningless values every operation refuses. */
const alwaysRead = ["request_timeout", "enqueue_at", "retry_at", "payload"];

function breaksOfString(key: string): readonly Break[] {
  const meant = (nonsense[key] ?? []).map((put) => ({
    what: `means nothing, ${JSON.stringify(put.slice(0, 30))}`,
    isRefused: alwaysRead.includes(key) && put !== "",
    put,
  }));
  const halves = texts.bad.map((put) => ({ what: "half a surrogate pair", isRefused: true, put }));
  return [...meant, ...halves, { what: "10 kB", isRefused: false, put: "x".repeat(10_000) }];
}

function written(body: unknown): string {
  return JSON.stringify(body).replace(rawForm, "$1");
}

function encoded(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

function chosen<T>(choices: readonly T[], index: number): T {
  const choice = choices[index % choices.length];
  if (choice === undefined) throw new Error("there is nothing to choose from");
  return choice;
}
