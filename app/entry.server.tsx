// Renders each page at build time, whole: nothing streams, and an error in a page is
// a failed build. A page is a document of its own: its styles are in it, and the one script
// that it names starts what moves.

import { readFileSync } from "node:fs";
import { renderToReadableStream } from "react-dom/server";
import { type EntryContext, ServerRouter } from "react-router";
import { PageAssetsContext } from "./shell/page-assets.ts";

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const { entry, hmr } = context.manifest;
  const assets = { entry: entry.module, reloader: hmr?.runtime, styles: stylesOf(context) };
  const failures: unknown[] = [];
  const stream = await renderToReadableStream(
    <PageAssetsContext value={assets}>
      <ServerRouter context={context} url={request.url} />
    </PageAssetsContext>,
    { onError: (error) => void failures.push(error) },
  );
  await stream.allReady;
  for (const failure of failures) console.error(failure);
  headers.set("content-type", "text/html; charset=utf-8");
  return new Response(stream, { status: failures.length > 0 ? 500 : status, headers });
}

/** Of the routes that make up the page, each stylesheet once. */
function stylesOf({ manifest, staticHandlerContext }: EntryContext): readonly string[] {
  if (import.meta.env.DEV) return [];
  const ids = ["root", ...staticHandlerContext.matches.map(({ route }) => route.id)];
  // A stylesheet of several routes has a fragment for each.
  const files = ids
    .flatMap((id) => manifest.routes[id]?.css ?? [])
    .map((href) => href.split("#")[0]);
  // The code that renders pages is built beside the files that they ask for.
  return [...new Set(files)].map((file) =>
    readFileSync(new URL(`../client${file}`, import.meta.url), "utf8").trim(),
  );
}

/** Without this a failed page would not say why. */
export function handleError(error: unknown): void {
  console.error(error);
}
