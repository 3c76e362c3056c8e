// Renders each page at build time, whole: nothing streams, and an error in a page is
// a failed build.

import { renderToReadableStream } from "react-dom/server";
import { type EntryContext, ServerRouter } from "react-router";
import { bootLate } from "./build/late-boot.ts";
import { stillRoute } from "./build/still-route.ts";

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const failures: unknown[] = [];
  const stream = await renderToReadableStream(
    <ServerRouter context={context} url={request.url} />,
    {
      onError: (error) => void failures.push(error),
    },
  );
  await stream.allReady;
  const html = await new Response(stream).text();
  for (const failure of failures) console.error(failure);
  headers.set("content-type", "text/html; charset=utf-8");
  return new Response(import.meta.env.DEV ? html : bootLate(html, stillRoute(context)), {
    status: failures.length > 0 ? 500 : status,
    headers,
  });
}

/** Without this a failed page would not say why. */
export function handleError(error: unknown): void {
  console.error(error);
}
