// The addresses of one server or of several nodes: calls go to one of them until it is dead, then to
// the next.

export class Hosts {
  readonly #bases: readonly string[];
  #at = 0;

  /** Throws a `TypeError` where no request could ever be sent, which repeating would hide. */
  constructor(url: string | readonly string[]) {
    const urls: readonly unknown[] = Array.isArray(url) ? url : [url];
    if (urls.length === 0) throw new TypeError("url is invalid; expected one at least, got none");
    this.#bases = urls.map(baseOf);
  }

  /** Where calls go now. */
  get base(): string {
    return this.#bases[this.#at] ?? "";
  }

  /** The address after it, for a call without an answer; the same address if it is the only one. */
  get next(): string {
    return this.#bases[(this.#at + 1) % this.#bases.length] ?? "";
  }

  /** Calls go on to the next one, unless another call has seen to that. */
  leave(base: string): void {
    if (this.base === base) this.#at = (this.#at + 1) % this.#bases.length;
  }
}

function baseOf(url: unknown): string {
  // A page may name its own server by a path.
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
