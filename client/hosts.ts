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

  /** Every address, for a copy of a call that `base` does not answer; `base` itself comes last. */
  beside(base: string): readonly string[] {
    const turned = [...this.#bases.slice(this.#at), ...this.#bases.slice(0, this.#at)];
    return [...turned.filter((other) => other !== base), base];
  }

  /** Calls go on to the next one, or to the one that is named, unless another call has seen to that. */
  leave(base: string, to?: string): void {
    if (this.base !== base) return;
    const next = to === undefined ? this.#at + 1 : this.#bases.indexOf(to);
    this.#at = next % this.#bases.length;
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
