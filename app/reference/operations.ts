// The operations of `openapi.json`, in its order.

import openapi from "../../openapi/openapi.json" with { type: "json" };

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Reply>>;
}

export interface Reply {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface MediaType {
  readonly schema?: unknown;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

export interface PlacedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

export const operations: readonly PlacedOperation[] = Object.entries(openapi.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
);

/** As Scalar makes it of the tag's name and of what `scalar-options.ts` says. */
export function fragmentOf({ tags, operationId }: Operation): string {
  return `tag/${(tags[0] ?? "").toLowerCase()}/${operationId}`;
}
