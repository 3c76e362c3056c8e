// The path below which the server is reached. A proxy may add a prefix, which only the page's own
// address contains.

const pagePattern = /^(.*)\/console(?:\/[a-z]*)?\/?$/;

/** The path before `/console`, used for the API too; `""` without a prefix. */
export function basePathOf(pathname: string): string {
  return pagePattern.exec(pathname)?.[1] ?? "";
}

const isBrowser = typeof location !== "undefined";

export const basePath = isBrowser ? basePathOf(location.pathname) : "";
export const basename = `${basePath}/console`;
/** URL of the server for a shell. */
export const serverUrl = isBrowser ? location.origin + basePath : "";
export const serverHost = isBrowser ? location.host : "";
