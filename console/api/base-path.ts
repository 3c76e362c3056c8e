// Where the console was found. A proxy may have put a prefix before it, which only the page's own
// address tells.

const pagePattern = /^(.*)\/console(?:\/[a-z]*)?\/?$/;

/** What stands before `/console`, for the API too; `""` where nothing does. */
export function prefixOf(pathname: string): string {
  return pagePattern.exec(pathname)?.[1] ?? "";
}

const isBrowser = typeof location !== "undefined";

export const prefix = isBrowser ? prefixOf(location.pathname) : "";
export const basename = `${prefix}/console`;
/** Of the server, as a shell would name it. */
export const serverUrl = isBrowser ? location.origin + prefix : "";
export const serverHost = isBrowser ? location.host : "";
