// Where a part of a page stands that is alive. It is rendered with the page, so that it is there
// without any code, and once more by itself when the reader comes near (`start-islands.ts`).

import { type ComponentType, type ReactNode, use, useId } from "react";
import { renderToString } from "react-dom/server";
import { type IslandName, loadIsland } from "./islands.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

interface IslandProps {
  readonly name: IslandName;
  readonly props?: Readonly<Record<string, Json>>;
}

const loading = new Map<IslandName, Promise<ComponentType<object>>>();

export function Island({ name, props = {} }: IslandProps): ReactNode {
  // Also the beginning of its ids: rendered by itself it would count them from the first again.
  const id = useId();
  const loaded = loading.get(name) ?? loadIsland(name);
  loading.set(name, loaded);
  const Part = use(loaded);
  const __html = renderToString(<Part {...props} />, { identifierPrefix: id });
  return (
    <div
      data-island={name}
      data-props={JSON.stringify(props)}
      data-id={id}
      dangerouslySetInnerHTML={{ __html }}
    />
  );
}
