// Finds the queues that a request names, by the `queueKeyword` of its schema.

import type { TSchema } from "@sinclair/typebox";
import type { Role } from "./roles.ts";
import { queueKeyword } from "./schemas.ts";

export interface NamedQueue {
  readonly name: string;
  /** `null` = the role of the operation. */
  readonly role: Role | null;
}

type Finder = (value: unknown, found: NamedQueue[]) => void;

/** For valid requests. Empty names are ignored. */
export function queueFinder(schema: TSchema): (request: unknown) => readonly NamedQueue[] {
  const find = finderOf(schema);
  return (request) => {
    const found: NamedQueue[] = [];
    find?.(request, found);
    return found;
  };
}

/** Roles that a request may need for its queues, besides the role of its operation. */
export function queueRoles(schema: TSchema): readonly Role[] {
  const marked: true | Role | undefined = schema[queueKeyword];
  if (marked !== undefined) return marked === true ? [] : [marked];
  const properties: Readonly<Record<string, TSchema>> = schema["properties"] ?? {};
  const inner = schema["type"] === "array" ? [schema["items"]] : Object.values(properties);
  return [...new Set(inner.flatMap(queueRoles))];
}

/** `null` = the schema names no queues. */
function finderOf(schema: TSchema): Finder | null {
  const marked: true | Role | undefined = schema[queueKeyword];
  if (marked !== undefined) {
    const role = marked === true ? null : marked;
    return (name, found) => {
      if (typeof name === "string" && name !== "") found.push({ name, role });
    };
  }
  if (schema["type"] === "array") {
    const inner = finderOf(schema["items"]);
    return inner && ((values, found) => eachOf(values, (value) => inner(value, found)));
  }
  const properties: Readonly<Record<string, TSchema>> = schema["properties"] ?? {};
  const inner = Object.entries(properties).flatMap(([key, property]) => {
    const find = finderOf(property);
    return find === null ? [] : [{ key, find }];
  });
  if (inner.length === 0) return null;
  return (value, found) => {
    const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
    for (const { key, find } of inner) find(fields[key], found);
  };
}

function eachOf(values: unknown, visit: (value: unknown) => void): void {
  for (const value of (values ?? []) as readonly unknown[]) visit(value);
}
