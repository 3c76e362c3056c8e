// Closes idle connections, except while they wait for an answer. To lift the timeout and set it
// again costs more than most answers take, so only requests that take long have it lifted.

/** Seconds after which an idle connection is closed if it does not wait for an answer. */
export const idleTimeoutSeconds = 30;
/**
 * The timeout after a large answer. The system buffers some megabytes of it and takes more only when
 * it has room for about one, so a slow reader seems idle meanwhile.
 */
export const readerTimeoutSeconds = 240;
/** The system takes an answer up to this size at once. */
const largeAnswerBytes = 256 * 1024;
/** How often waiting requests are checked; twice this has to be less than the timeout. */
const lookSeconds = 10;

export class IdleTimeouts {
  /** 0 = no timeout. */
  readonly #bound: (request: Request, seconds: number) => void;
  /** Waiting since before the last check, so without a timeout. */
  readonly #long = new Set<Request>();
  readonly #waiting = new Set<Request>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(bound: (request: Request, seconds: number) => void) {
    this.#bound = bound;
  }

  /** The connection waits for the answer from now on. */
  begin(request: Request): void {
    this.#waiting.add(request);
    this.#timer ??= setInterval(() => this.#look(), lookSeconds * 1_000).unref();
  }

  /**
   * The answer is sent. A timeout stays with the connection until Bun sets the usual one again at the
   * next request.
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
