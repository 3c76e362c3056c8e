// The addresses of one server or of several nodes. Calls go to one address until it fails, then to
// the next.

export class Hosts {
  readonly #bases: readonly string[];
  #at = 0;

  /** Throws a `TypeError` for a URL that can never work, because retries would hide it. */
  constructor(url: string | readonly string[]) {
    const urls: readonly unknown[] = Array.isArray(url) ? url : [url];
    if (urls.length === 0) throw new TypeError("url is invalid; expected at least one, got none");
    this.#bases = urls.map(baseOf);
  }

  /** The address in use. */
  get base(): string {
    return this.#bases[this.#at] ?? "";
  }

  /** All addresses, for a copy of a call that `base` does not answer; `base` itself is last. */
  copyAddresses(base: string): readonly string[] {
    const rotated = [...this.#bases.slice(this.#at), ...this.#bases.slice(0, this.#at)];
    return [...rotated.filter((other) => other !== base), base];
  }

  /** Switches to the next address, or to `to`, unless another call has already switched. */
  leave(base: string, to?: string): void {
    if (this.base !== base) return;
    const next = to === undefined ? this.#at + 1 : this.#bases.indexOf(to);
    this.#at = next % this.#bases.length;
  }
}

function baseOf(url: unknown): string {
  // In a browser the URL may be a path on the page's server.
  const page = "location" in globalThis ? globalThis.location?.href : undefined;
  if (typeof url === "string" && /^https?:$/.test(protocolOf(url, page))) {
    return url.replace(/\/+$/, "");
  }
  throw new TypeError(`url is invalid; expected one such as http://localhost:9090, got '${url}'`);
}

function protocolOf(url: string, page: string | undefined): string {
  try {
    return new URL(url, page).protocol;
  } catch {
    return "";
  }
}
