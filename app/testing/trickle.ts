// Serves a page as over a slow connection: in pieces, with time to paint after each.

const cutsMax = 30;
/** One or two frames. */
const pauseMs = 25;

/** Proxies the address, and sends its pages in pieces. */
export function serveTrickling(url: string) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const reply = await fetch(url + new URL(request.url).pathname, {
        headers: { accept: request.headers.get("accept") ?? "", "accept-encoding": "identity" },
      });
      const { status } = reply;
      const headers = new Headers();
      for (const name of ["content-type", "cache-control"]) {
        headers.set(name, reply.headers.get(name) ?? "");
      }
      const isPage = headers.get("content-type")?.startsWith("text/html") === true;
      const body = isPage ? inPieces(await reply.text()) : reply.body;
      return new Response(body, { status, headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function inPieces(text: string): ReadableStream<string> {
  const pieces = piecesOf(text);
  return new ReadableStream({
    pull: async (controller) => {
      controller.enqueue(pieces.shift() ?? "");
      if (pieces.length === 0) controller.close();
      else await Bun.sleep(pauseMs);
    },
  });
}

/**
 * Splits a page at ends of elements, first of those in the bar, whose positions depend on each
 * other.
 */
function piecesOf(text: string): string[] {
  const body = text.indexOf("<body");
  const ends = [...text.slice(body).matchAll(/<\/(?:li|nav|header|aside|h1|h2)>/g)]
    .slice(0, cutsMax)
    .map(({ 0: tag, index }) => body + index + tag.length);
  const cuts = [body, ...ends, text.length];
  return [0, ...cuts].slice(0, -1).map((start, index) => text.slice(start, cuts[index]));
}
