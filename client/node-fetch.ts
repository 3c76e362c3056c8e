// HTTP on Node with `node:http`, which uses well under half of the CPU time of Node's `fetch`.
// Implements only what the transport needs; errors are Node's own.

import { notConnected } from "./connection-errors.ts";
import type { Fetch } from "./exchange.ts";

interface Message {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  setEncoding(encoding: "utf8"): void;
  on(event: "data", listener: (text: string) => void): void;
  on(event: "end", listener: () => void): void;
  on(event: "error", listener: (cause: unknown) => void): void;
}

interface Socket {
  once(event: "connect" | "secureConnect", listener: () => void): void;
}

interface Request {
  /** The request uses a connection that was open already. */
  readonly reusedSocket: boolean;
  on(event: "socket", listener: (socket: Socket) => void): void;
  on(event: "response", listener: (message: Message) => void): void;
  on(event: "error", listener: (cause: unknown) => void): void;
  end(body?: string): void;
}

interface Agent {
  /** Idle connections in the pool. */
  readonly freeSockets: Readonly<Record<string, readonly { destroy(): void }[] | undefined>>;
}

/** `node:http`, or `node:https`. */
interface HttpModule {
  readonly Agent: new (options: { readonly keepAlive: boolean }) => Agent;
  request(url: string, options: object): Request;
}

interface Runtime {
  readonly process?: {
    readonly versions?: Readonly<Record<string, string>>;
    readonly getBuiltinModule?: (name: string) => HttpModule | undefined;
  };
}

/** `null` if this is not Node, or an old version. */
export function nodeFetch(): Fetch | null {
  const { process } = globalThis as Runtime;
  const { versions = {} } = process ?? {};
  if (versions["node"] === undefined || "Bun" in globalThis || "Deno" in globalThis) return null;
  const [http, https] = ["node:http", "node:https"].map((name) =>
    process?.getBuiltinModule?.(name),
  );
  if (http === undefined || https === undefined) return null;
  const agents = {
    http: new http.Agent({ keepAlive: true }),
    https: new https.Agent({ keepAlive: true }),
  };
  return (url, init) => {
    const isSecure = url.startsWith("https:");
    const agent = isSecure ? agents.https : agents.http;
    // One connection is unresponsive; the other idle ones may be dead too.
    if (init.keepalive === false) emptyPool(agent);
    return exchange(isSecure ? https : http, { url, init, agent });
  };
}

function emptyPool({ freeSockets }: Agent): void {
  for (const sockets of Object.values(freeSockets)) {
    for (const socket of [...(sockets ?? [])]) socket.destroy();
  }
}

interface Exchange {
  readonly url: string;
  readonly init: Parameters<Fetch>[1];
  readonly agent: object;
}

function exchange(module: HttpModule, { url, init, agent }: Exchange): ReturnType<Fetch> {
  return new Promise((resolve, reject) => {
    const { method, headers, signal, body } = init;
    const request = module.request(url, { method, headers, signal, agent });
    let isConnected = false;
    request.on("socket", (socket) => {
      if (request.reusedSocket) return;
      // Nothing of the request is sent before this event.
      const event = url.startsWith("https:") ? "secureConnect" : "connect";
      socket.once(event, () => {
        isConnected = true;
      });
    });
    request.on("error", (cause) => {
      const isUnsent = !isConnected && !request.reusedSocket;
      reject(isUnsent ? new Error(notConnected, { cause }) : cause);
    });
    request.on("response", (message) => {
      const text = new Promise<string>((end, fail) => {
        let received = "";
        message.setEncoding("utf8");
        message.on("data", (more) => {
          received += more;
        });
        message.on("end", () => end(received));
        message.on("error", fail);
      });
      // Avoids an unhandled rejection if the text is never read.
      text.catch(() => undefined);
      const { statusCode = 0, headers: received } = message;
      const get = (name: string): string | null => received[name]?.toString() ?? null;
      resolve({ status: statusCode, headers: { get }, text: () => text });
    });
    request.end(body);
  });
}
