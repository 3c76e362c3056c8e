// Wraps every route: checks `Host` and `Origin`, limits the requests in progress, turns errors into
// error replies, and counts the replies.

import type { Config } from "../config/settings.ts";
import type { Log } from "../observability/log.ts";
import type { RequestCounts } from "../observability/request-counts.ts";
import type { RequestLog } from "../observability/request-log.ts";
import { errorEncoder } from "../protobuf/exchange.ts";
import { allowOrigin, isPreflight, preflightResponse, siteGuard } from "./guards.ts";
import { errorResponse, HttpError } from "./reply.ts";

export type Handler = (request: Request) => Response | Promise<Response>;

export interface AdmissionOptions {
  readonly config: Pick<Config, "host" | "allowedHosts" | "allowedOrigins" | "connectionsMax">;
  readonly log: Log;
  readonly counts: RequestCounts;
  /** Absent = requests are not logged. */
  readonly requestLog?: RequestLog;
}

interface Context {
  readonly request: Request;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #admit: (request: Request) => string | null;
  readonly #makeRoom: () => boolean;
  #requestsInFlight = 0;

  /** `makeRoom` rejects a slow upload in favour of another request; false = there is none. */
  constructor(options: AdmissionOptions, makeRoom: () => boolean) {
    this.#options = options;
    this.#makeRoom = makeRoom;
    this.#admit = siteGuard(options.config);
  }

  get requestsInFlight(): number {
    return this.#requestsInFlight;
  }

  /** `path`: for the counts and the log; absent = the path of each request. */
  wrap(handle: Handler, path?: string): (context: Context) => Promise<Response> {
    const { config, log, counts, requestLog } = this.#options;
    const count = path === undefined ? null : counts.counterOf(path);
    return async ({ request }) => {
      const started = performance.now();
      this.#requestsInFlight += 1;
      let origin: string | null = null;
      let response: Response;
      try {
        origin = this.#admit(request);
        if (this.#requestsInFlight > config.connectionsMax && !this.#makeRoom()) {
          throw new HttpError("full", "too many requests are in progress; try again later");
        }
        response =
          origin !== null && isPreflight(request) ? preflightResponse() : await handle(request);
      } catch (error) {
        response = errorResponse(error, log, errorEncoder(request));
      }
      // The page can read error replies too; otherwise it would report a network error.
      if (origin !== null) allowOrigin(origin, response);
      this.#requestsInFlight -= 1;
      const seconds = (performance.now() - started) / 1000;
      const code = response.status;
      (count ?? counts.counterOf(pathOf(request)))(code, seconds);
      requestLog?.answered(request, { path: path ?? pathOf(request), code, seconds });
      return response;
    };
  }
}

/** If `Host` is invalid, the request's URL is only a path, which `new URL` would reject. */
export function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}
