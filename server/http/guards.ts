// Refuses requests from web pages of other sites, by `Host`, `Origin` and `Content-Type`, before
// their bodies are read.

import { shortened } from "../../openapi/check.ts";
import { keyHeader, replayedHeader } from "../../openapi/operations.ts";
import { protobufTypeOf } from "../protobuf/negotiation.ts";
import { isEverywhere } from "./connections/bind-rules.ts";
import { HttpError } from "./reply.ts";

/** Seconds for which a browser may cache a preflight. */
const preflightSeconds = 600;

export interface SiteRules {
  /** The address that the server listens on. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/**
 * Returns the check of `Host` and `Origin`. The check throws an `HttpError`, or returns the origin
 * whose pages may read the response; `null` for most requests.
 *
 * A web page can send requests to any address that the browser can reach. The browser's headers
 * reveal it: a page of another site sends that site's `Origin`. A page whose own name points to
 * this server (DNS rebinding) sends that name as `Host`. So `Host` must be localhost, the address
 * listened on, or an allowed host, with any port. `*.` at the start of an allowed host matches one
 * label. A server on all addresses (`0.0.0.0`, `::`) accepts any IP address too, because rebinding
 * needs a name.
 */
export function siteGuard(rules: SiteRules): (request: Request) => string | null {
  const hosts = new Set(
    ["localhost", "127.0.0.1", "[::1]", rules.host, ...rules.allowedHosts].map(asInHeader),
  );
  const origins = new Set(rules.allowedOrigins.map((origin) => origin.toLowerCase()));
  const takesAnyAddress = isEverywhere(rules.host);
  /** Most requests have the same `Host` as the previous one. */
  let admitted: string | null = null;
  return (request) => {
    const given = request.headers.get("host");
    const origin = request.headers.get("origin");
    if (origin === null && given !== null && given === admitted) return null;
    const host = (given ?? hostInUrl(request)).toLowerCase();
    const name = bareName(host);
    // Only HTTP/1.0 allows requests without `Host`, and no browser uses it.
    const isUnnamed = given === null && host === "";
    const isAllowed = isUnnamed || hosts.has(name) || hosts.has(asWildcard(name));
    if (!isAllowed && !(takesAnyAddress && isAddress(name))) {
      const expected = "expected this server's address or one of --allowed-hosts";
      throw new HttpError(
        "host_not_allowed",
        `host is not allowed; ${expected}, got '${shortened(host)}'`,
      );
    }
    admitted = given;
    if (origin === null || origin === `http://${host}` || origin === `https://${host}`) return null;
    if (origins.has(origin.toLowerCase())) return origin;
    throw new HttpError("origin_not_allowed", `origin is not allowed; got '${shortened(origin)}'`);
  };
}

/** Lets a page of an allowed origin read the response. */
export function allowOrigin(origin: string, response: Response): void {
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", replayedHeader);
  response.headers.append("vary", "origin");
}

export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("access-control-request-method");
}

export function preflightResponse(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers": `authorization, content-type, ${keyHeader}`,
      "access-control-max-age": String(preflightSeconds),
    },
  });
}

/**
 * Accepts only JSON and protobuf: a page may send a form to any site without a preflight, and curl
 * sends a form by default. Returns the protobuf type; `null` = JSON.
 */
export function checkContentType(request: Request): string | null {
  const given = request.headers.get("content-type");
  if (given === "application/json") return null;
  if (given !== null && /^application\/json *(; *charset="?utf-8"? *)?;?$/i.test(given))
    return null;
  const protobuf = protobufTypeOf(given);
  if (protobuf !== null) return protobuf;
  const got = given === null ? "none" : `'${shortened(given)}'`;
  const expected = "send 'Content-Type: application/json'";
  throw new HttpError(
    "unsupported_content",
    `content type is not supported; ${expected}, got ${got}`,
  );
}

/** A request made in a test has its host only in the URL; HTTP/1.1 requires the header. */
function hostInUrl(request: Request): string {
  return /^https?:\/\/([^/?#]+)/.exec(request.url)?.[1] ?? "";
}

/** Strips the port and a trailing dot. */
function bareName(host: string): string {
  return host.replace(/:\d*$/, "").replace(/(?<=[^.])\.$/, "");
}

/** `*.example.com` for `a.example.com`; a name with an empty first label stays as it is. */
function asWildcard(name: string): string {
  return name.replace(/^[^.]+\./, "*.");
}

/** In the header, an IPv6 address is in brackets. */
function asInHeader(host: string): string {
  const isBareAddress = host.includes(":") && !host.startsWith("[");
  return bareName(isBareAddress ? `[${host}]` : host).toLowerCase();
}

function isAddress(name: string): boolean {
  return /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/.test(name);
}
