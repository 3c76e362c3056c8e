// The operations of `openapi.json`, in its order.

import openapi from "../../openapi/openapi.json" with { type: "json" };
import type { Schema } from "./schema-fields.ts";

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Reply>>;
  /** Required role of the key; absent if no key is needed. */
  readonly "x-role"?: string;
  /** The queues for which the role is required. */
  readonly "x-role-queues"?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Reply {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface PlacedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

export const operations: readonly PlacedOperation[] = Object.entries(openapi.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods as unknown as Readonly<Record<string, Operation>>).map(
      ([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }),
    ),
);

/** In the order of the list and of the links between operations. */
export const groups = openapi.tags.map(({ name, description }) => ({
  name,
  description,
  operations: operations.filter(({ tags }) => tags.includes(name)),
}));

/** The page of an operation. */
export function operationPath({ operationId }: Pick<Operation, "operationId">): string {
  return `/api/${operationId}`;
}

/** A text about the required role. */
export function roleText(operation: Operation): string {
  const { "x-role": role, "x-role-queues": reach } = operation;
  if (role === undefined) return "no key needed";
  const key = role === "any" ? "a key" : `a key with the role ${role}`;
  switch (reach) {
    case "named":
      return `${key} for the queues it names`;
    case "all":
      return `${key} for all queues`;
    default:
      return `${key}, which is told of its own queues`;
  }
}

/** Its summary in a list. */
export function firstSentence({ description }: Pick<Operation, "description">): string {
  return /^.+?[.:](?=\s|$)/s.exec(description)?.[0].replace(/:$/, ".") ?? description;
}

/** The media type of a body or reply: the contract defines exactly one for each. */
export function mediaOf(part: Pick<Reply, "content"> | undefined): MediaType {
  return Object.values(part?.content ?? {})[0] ?? {};
}

/** Codes that do not depend on the operation. */
const commonCodes = ["403", "413", "415", "429", "500", "503", "504"];

/** Replies common to all operations, by code. */
export const commonReplies: ReadonlyMap<string, Reply> = new Map(
  commonCodes.flatMap((code) => {
    const all = operations.flatMap(({ responses }) => responses[code] ?? []);
    const alike = (one: Reply) => all.filter((other) => exampleOf(other) === exampleOf(one)).length;
    const [most] = all.toSorted((one, other) => alike(other) - alike(one));
    return most === undefined ? [] : [[code, most] as const];
  }),
);

/** Whether the reply equals the common one. */
export function isCommon(code: string, reply: Reply): boolean {
  const common = commonReplies.get(code);
  return common !== undefined && exampleOf(common) === exampleOf(reply);
}

function exampleOf(reply: Reply): string {
  return JSON.stringify(mediaOf(reply).example);
}
