// Listens with an app on a port, and stops without cutting responses short.

import type { App } from "../../app.ts";
import { isEverywhere } from "./bind-rules.ts";
import { idleTimeoutSeconds } from "./idle-timeouts.ts";
import type { Tls } from "./tls.ts";

export interface Address {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

export interface ListenOptions extends Address {
  /** Absent or `null` = HTTP in the clear. */
  readonly tls?: Tls | null;
  /**
   * Other threads of this process share the port; each connection belongs to one. Default false.
   */
  readonly isShared?: boolean;
}

export interface Listening {
  /** For clients on this machine, such as `http://127.0.0.1:9090`. */
  readonly url: string;
  readonly port: number;
  /**
   * New connections get this certificate; requests in progress are answered over their old
   * connections. Throws a `ListenError` if the port is lost.
   */
  renew(tls: Tls): void;
  /** Accepts no more connections; resolves when every request is answered or cut off. */
  stop(timeoutMs: number): Promise<void>;
}

/** Cannot listen; `taken` = another program uses the port. The message is for the operator. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly fault: "settings" | "taken";
  /** The system's error code, such as `EADDRINUSE`; `""` = none. */
  readonly code: string;
  readonly host: string;
  readonly port: number;

  constructor(cause: unknown, { host, port }: Address) {
    const code = isCoded(cause) ? cause.code : undefined;
    super(reasonOf(cause, code, { host, port }), { cause });
    this.fault = code === "EADDRINUSE" ? "taken" : "settings";
    this.code = typeof code === "string" ? code : "";
    this.host = host;
    this.port = port;
  }
}

function isCoded(cause: unknown): cause is { readonly code: unknown } {
  return typeof cause === "object" && cause !== null && "code" in cause;
}

/** Throws the `ListenError` that `listen` would, so that a start that fails creates nothing. */
export async function tryListening({ host: hostname, port }: Address): Promise<void> {
  try {
    const fetch = () => new Response(null, { status: 503 });
    await Bun.serve({ hostname, port, reusePort: false, fetch }).stop(true);
  } catch (cause) {
    throw new ListenError(cause, { host: hostname, port });
  }
}

export function listen(app: App, options: ListenOptions): Listening {
  const { host, port, tls = null, isShared = false } = options;
  let server = start(app, { host, port, tls, isShared });
  /** Earlier servers that still answer requests, until their promises resolve. */
  const former = new Map<typeof server, Promise<void>>();
  const bound = server.port ?? port;
  const protocol = `http${tls === null ? "" : "s"}`;
  return {
    url: `${protocol}://${reachable(host)}:${bound}`,
    port: bound,
    renew(renewed) {
      // Bun's `reload` ignores `tls`. A released port can be bound again at once.
      const old = server;
      const stopped = old.stop().finally(() => former.delete(old));
      former.set(old, stopped);
      server = start(app, { host, port: bound, tls: renewed, isShared });
    },
    async stop(timeoutMs) {
      const servers = [...former.keys(), server];
      const cutOff = setTimeout(() => {
        for (const one of servers) void one.stop(true);
      }, timeoutMs);
      await Promise.all([...former.values(), server.stop()]);
      clearTimeout(cutOff);
    },
  };
}

function start(app: App, { host, port, tls, isShared }: Required<ListenOptions>) {
  try {
    app.listen({
      hostname: host,
      port,
      idleTimeout: idleTimeoutSeconds,
      // The app bounds each body before it is read. Bun's bound would send an empty response. After
      // the app's response, Bun discards the rest of the body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // If set, two servers would silently share one port, each with half of the requests.
      reusePort: isShared,
      // Bun's error page would show source code.
      development: false,
      ...(tls === null ? {} : { tls }),
    });
  } catch (cause) {
    throw new ListenError(cause, { host, port });
  }
  const { server } = app;
  if (server === null) throw new Error("the app does not listen after listen()");
  return server;
}

function reasonOf(cause: unknown, code: unknown, { host, port }: Address): string {
  const address = `${bracketed(host)}:${port}`;
  switch (code) {
    case "EADDRINUSE":
      return `port is in use; another program listens on ${address}`;
    case "EACCES":
      return `port is not allowed; this user may not listen on ${address}`;
    // `EINVAL` is reported for a name without an address.
    case "EADDRNOTAVAIL":
    case "EINVAL":
      return `host is not an address of this machine; got '${host}'`;
    default:
      return `cannot listen on ${address}; ${cause instanceof Error ? cause.message : cause}`;
  }
}

/** A server on all addresses is reachable as `localhost`. */
function reachable(host: string): string {
  return isEverywhere(host) ? "localhost" : bracketed(host);
}

/** In front of a port, an IPv6 address needs brackets. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
