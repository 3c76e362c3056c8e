// Connections may be silent for a bounded time, except while they wait for an
// answer. Lifting the bound and setting it again costs more than most answers
// take, so it is done only for those that take long.

/** Seconds of silence after which a connection is closed that is not waiting for an answer. */
export const idleTimeoutSeconds = 30;
/**
 * The same after a large answer. The system holds some megabytes of it and asks for more only when it
 * has room for about one, so a slow reader looks silent for as long as it takes that much.
 */
export const readerTimeoutSeconds = 240;
/** An answer up to this size is the system's to send at once. */
const largeAnswerBytes = 256 * 1024;
/** How often waiting requests are looked at; twice of it has to be less than the bound. */
const lookSeconds = 10;

export class Silence {
  /** 0 = no bound. */
  readonly #bound: (request: Request, seconds: number) => void;
  /** Those that were there at the last look, and so have no bound. */
  readonly #long = new Set<Request>();
  readonly #waiting = new Set<Request>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(bound: (request: Request, seconds: number) => void) {
    this.#bound = bound;
  }

  /** From now on its connection waits for the answer. */
  begin(request: Request): void {
    this.#waiting.add(request);
    this.#timer ??= setInterval(() => this.#look(), lookSeconds * 1_000).unref();
  }

  /**
   * Its answer is there. A bound stays with the connection until it is set again, which Bun does with
   * the usual one at the head of the next request.
   */
  end(request: Request, answerBytes: number): void {
    const isLifted = this.#long.delete(request);
    this.#waiting.delete(request);
    if (answerBytes > largeAnswerBytes) this.#bound(request, readerTimeoutSeconds);
    else if (isLifted) this.#bound(request, idleTimeoutSeconds);
  }

  #look(): void {
    for (const request of this.#waiting) {
      this.#long.add(request);
      this.#bound(request, 0);
    }
    this.#waiting.clear();
    if (this.#long.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
