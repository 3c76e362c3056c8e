// Renders each page at build time as a whole: nothing streams, and an error in a page fails the
// build. Each page is a separate document with inline styles and one script for its interactive
// parts.

import { readdirSync, readFileSync } from "node:fs";
import { renderToReadableStream } from "react-dom/server";
import { type EntryContext, ServerRouter } from "react-router";
import { pageStyles } from "./build/page-styles.ts";
import { PageAssetsContext, stylesMark } from "./shell/page-assets.ts";

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const { entry, hmr } = context.manifest;
  const failures: unknown[] = [];
  const stream = await renderToReadableStream(
    <PageAssetsContext value={{ entry: entry.module, reloader: hmr?.runtime }}>
      <ServerRouter context={context} url={request.url} />
    </PageAssetsContext>,
    { onError: (error) => void failures.push(error) },
  );
  await stream.allReady;
  for (const failure of failures) console.error(failure);
  headers.set("content-type", "text/html; charset=utf-8");
  const html = await new Response(stream).text();
  const page = import.meta.env.DEV ? html : html.replace(stylesMark, () => stylesOf(html));
  return new Response(page, { status: failures.length > 0 ? 500 : status, headers });
}

/** The rendering code is built beside the files that pages request. */
const assets = new URL("../client/assets/", import.meta.url);

function textOf(files: RegExp): string {
  const chosen = readdirSync(assets).filter((file) => files.test(file));
  return chosen.map((file) => readFileSync(new URL(file, assets), "utf8")).join("\n");
}

function stylesOf(html: string): string {
  const isAlive = html.includes("data-island=");
  const scripts = textOf(isAlive ? /^(entry|hydrate-island|simulator).*js$/ : /^entry.*js$/);
  return pageStyles(textOf(/^root.*css$/), { html, scripts });
}

/** Without this, a failed page would not show the cause. */
export function handleError(error: unknown): void {
  console.error(error);
}
