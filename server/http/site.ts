// Serves the built site. Its files are listed once, at the start; requests are looked up in that
// table, so no path on disk is ever built from a URL. Paths of the API do not reach it.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { formatDuration } from "../../engine/model/duration.ts";
import type { Site } from "../app.ts";

export interface SiteFolders {
  /** The files that are served. */
  readonly site: string;
  /** Written by the build: which scripts each page may run. */
  readonly manifest: string;
  /** Exists while a build runs. */
  readonly building: string;
}

interface Encoded {
  readonly file: string;
  readonly bytes: number;
}

/**
 * A placeholder for the origin in texts that need absolute URLs, if the build had no origin. The
 * server replaces it with the origin of the request.
 */
export const ownOrigin = "http://own-origin.invalid";

interface SiteFile extends Encoded {
  readonly type: string;
  readonly etag: string;
  readonly cacheControl: string;
  /** The content security policy of a page; `null` = not a page. */
  readonly policy: string | null;
  readonly br: Encoded | null;
  readonly gzip: Encoded | null;
}

type Table = ReadonlyMap<string, SiteFile>;

const notFoundPage = "/404/index.html";
const revalidated = "public, max-age=0, must-revalidate";
const compressed = /\.(br|gz)$/;

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  ico: "image/x-icon",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  png: "image/png",
  proto: "text/plain; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webp: "image/webp",
  woff2: "font/woff2",
  xml: "application/xml; charset=utf-8",
};

const typesByPath: Readonly<Record<string, string>> = {
  "/blog/rss.xml": "application/rss+xml; charset=utf-8",
  "/blog/atom.xml": "application/atom+xml; charset=utf-8",
};

function typeOf(path: string): string {
  const extension = path.slice(path.lastIndexOf(".") + 1);
  return typesByPath[path] ?? types[extension] ?? "application/octet-stream";
}

/**
 * Serves the site as soon as it is built. Before that it returns `null` or, during a build, a
 * response that says so.
 */
export function openSite(folders: SiteFolders): Site {
  let opened = readSite(folders);
  return (request, path, prefix) => {
    opened ??= readSite(folders);
    if (opened !== null) return opened(request, path, prefix);
    const started = statSync(folders.building, { throwIfNoEntry: false });
    return started === undefined || path.startsWith("/v1/")
      ? null
      : buildingResponse(request, started.mtimeMs);
  };
}

function readSite({ site, manifest }: SiteFolders): Site | null {
  if (!existsSync(site) || !existsSync(manifest)) return null;
  try {
    const built = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
    const table = readTable(site, built);
    const named = new Map(Object.entries(built.ownOrigin ?? {}));
    return (request, path, prefix = "") => {
      const text = named.get(path);
      if (text !== undefined) return sendWithOrigin(request, typeOf(path), text);
      return respond(table, request, { path, prefix });
    };
  } catch (cause) {
    // A build is replacing the site.
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw cause;
  }
}

interface Manifest {
  /** Hashes of the inline scripts of each page. */
  readonly policies: Readonly<Record<string, readonly string[]>>;
  /** Other origins that pages may connect to. */
  readonly connect?: readonly string[];
  /**
   * Texts that contain `ownOrigin`, by path. Other hosts serve the files at these paths instead.
   */
  readonly ownOrigin?: Readonly<Record<string, string>>;
}

function readTable(folder: string, manifest: Manifest): Table {
  const { policies, connect = [] } = manifest;
  const sizes = new Map<string, Encoded>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, file).replaceAll("\\", "/")}`;
    sizes.set(path, { file, bytes: statSync(file).size });
  }
  const table = new Map<string, SiteFile>();
  for (const [path, { file, bytes }] of sizes) {
    if (compressed.test(path)) continue;
    const isPage = path.endsWith(".html");
    table.set(path, {
      file,
      bytes,
      type: typeOf(path),
      etag: `"${Bun.hash(readFileSync(file)).toString(36)}"`,
      cacheControl: /^(\/console)?\/assets\//.test(path)
        ? "public, max-age=31536000, immutable"
        : revalidated,
      policy: isPage ? policyFor(path, policies[path] ?? [], connect) : null,
      br: sizes.get(`${path}.br`) ?? null,
      gzip: sizes.get(`${path}.gz`) ?? null,
    });
  }
  return table;
}

function policyFor(path: string, hashes: readonly string[], connect: readonly string[]): string {
  if (path.startsWith("/console/")) return consolePolicy(hashes);
  return path.startsWith("/api/")
    ? policyOf(hashes, [...localServers, ...connect], clientSources)
    : policyOf(hashes, connect);
}

/** The console connects only to its own server, and has no inline styles. */
function consolePolicy(hashes: readonly string[]): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** For "Test Request" on API pages: the servers that it calls, and the sources that it loads. */
const localServers = ["http://localhost:9090", "http://127.0.0.1:9090"];
const clientSources = ["img-src 'self' data: blob:", "font-src 'self' data:"];

/** Pages have inline styles; inline scripts are allowed by their hashes. */
function policyOf(
  hashes: readonly string[],
  connect: readonly string[],
  more: readonly string[] = [],
): string {
  return [
    "default-src 'self'",
    ["script-src 'self'", ...hashes].join(" "),
    "style-src 'self' 'unsafe-inline'",
    ["connect-src 'self'", ...connect].join(" "),
    ...more,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

interface PagePath {
  readonly path: string;
  /**
   * In front of the path in the URL. With a prefix the site serves its own pages, but not its 404.
   */
  readonly prefix: string;
}

function respond(table: Table, request: Request, { path, prefix }: PagePath): Response | null {
  const missing = () => (prefix === "" ? notFound(table, request) : null);
  const known = decodePath(path);
  if (known === null) return missing();
  const plain = normalisePath(known);
  if (plain !== known && findPage(table, plain) !== null) return redirect(request, prefix + plain);
  const page = findPage(table, known);
  if (page !== null) {
    const text = accepts(request, "text/markdown") ? findMarkdown(table, known) : null;
    return send(request, text ?? page, { varies: findMarkdown(table, known) !== null });
  }
  const file = table.get(known);
  // A page has one URL, which is not that of its file.
  if (file !== undefined && file.policy === null) return send(request, file, { varies: false });
  return missing();
}

function decodePath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Strips `index.html`, `.html` and trailing slashes. */
function normalisePath(path: string): string {
  return path.replace(/\/index\.html$|\.html$/, "").replace(/\/+$/, "") || "/";
}

function findPage(table: Table, path: string): SiteFile | null {
  const file = path === "/" ? "/index.html" : `${path}/index.html`;
  return file === notFoundPage ? null : (table.get(file) ?? null);
}

function findMarkdown(table: Table, path: string): SiteFile | null {
  return table.get(path === "/" ? "/index.md" : `${path}.md`) ?? null;
}

function accepts(request: Request, type: string): boolean {
  return (request.headers.get("accept") ?? "").includes(type);
}

/** `null` unless a browser sent the request: clients of the API get the API's error reply. */
function notFound(table: Table, request: Request): Response | null {
  const page = table.get(notFoundPage);
  if (page === undefined || !accepts(request, "text/html")) return null;
  return send(request, page, { varies: false, status: 404 });
}

function buildingResponse(request: Request, startedAt: number): Response {
  const seconds = Math.max(0, Math.round((Date.now() - startedAt) / 1_000));
  const progress = `The build started ${formatDuration(seconds * 1_000)} ago and takes a minute or two.`;
  const text = `The site is being built; the API is already available. ${progress}`;
  const isPage = accepts(request, "text/html");
  const html =
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3">' +
    `<title>Holdfast</title><p>${text} This page reloads when the site is ready.</p></html>`;
  const type = isPage ? "text/html" : "text/plain";
  const headers = { "content-type": `${type}; charset=utf-8`, "retry-after": "3" };
  const body = isPage ? html : `${text}\n`;
  return new Response(request.method === "HEAD" ? null : body, { status: 503, headers });
}

function redirect(request: Request, path: string): Response {
  const query = request.url.indexOf("?");
  const location = encodeURI(path) + (query === -1 ? "" : request.url.slice(query));
  return new Response(null, { status: 308, headers: { location } });
}

interface SendOptions {
  /** Whether the same URL also has Markdown, for `Accept: text/markdown`. */
  readonly varies: boolean;
  readonly status?: number;
}

/** The texts are few and small, so each request fills in the origin, and none is compressed. */
function sendWithOrigin(request: Request, type: string, unnamed: string): Response {
  const text = unnamed.replaceAll(ownOrigin, new URL(request.url).origin);
  const headers = {
    "content-type": type,
    "cache-control": revalidated,
    "content-length": String(Buffer.byteLength(text)),
    "x-content-type-options": "nosniff",
  };
  return new Response(request.method === "HEAD" ? null : text, { headers });
}

function send(request: Request, entry: SiteFile, { varies, status = 200 }: SendOptions): Response {
  const { encoding, chosen } = encodedFor(request, entry);
  // To a cache, each encoding of a file is a different entity.
  const etag = encoding === null ? entry.etag : entry.etag.replace(/"$/, `-${encoding}"`);
  const headers = new Headers({
    "content-type": entry.type,
    "cache-control": entry.cacheControl,
    etag,
    vary: varies ? "accept, accept-encoding" : "accept-encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
  });
  if (entry.policy !== null) headers.set("content-security-policy", entry.policy);
  if (status === 200 && matches(request, etag)) {
    return new Response(null, { status: 304, headers });
  }
  if (encoding !== null) headers.set("content-encoding", encoding);
  headers.set("content-length", String(chosen.bytes));
  const body = request.method === "HEAD" ? null : Bun.file(chosen.file);
  return new Response(body, { status, headers });
}

function encodedFor(
  request: Request,
  entry: SiteFile,
): { encoding: string | null; chosen: Encoded } {
  const accepted = request.headers.get("accept-encoding") ?? "";
  const takes = (name: string) =>
    new RegExp(`(^|[\\s,])${name}\\s*(,|$|;(?!\\s*q=0(\\.0*)?\\s*(,|$)))`).test(accepted);
  if (entry.br !== null && takes("br")) return { encoding: "br", chosen: entry.br };
  if (entry.gzip !== null && takes("gzip")) return { encoding: "gzip", chosen: entry.gzip };
  return { encoding: null, chosen: entry };
}

function matches(request: Request, etag: string): boolean {
  const given = request.headers.get("if-none-match");
  if (given === null) return false;
  return given
    .split(",")
    .some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*");
}
