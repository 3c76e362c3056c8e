// Closes idle connections, except while they wait for a response. Lifting the timeout and setting
// it again takes longer than most responses, so it is lifted only for long requests.

/** Seconds after which an idle connection is closed if it does not wait for a response. */
export const idleTimeoutSeconds = 30;
/**
 * The timeout after a large response. The system buffers a few megabytes of it, and accepts more
 * only when about one megabyte is free. Until then a slow reader seems idle.
 */
export const readerTimeoutSeconds = 240;
/** The system accepts a response up to this size at once. */
const largeAnswerBytes = 256 * 1024;
/** How often waiting requests are checked; twice this must be less than the timeout. */
const checkSeconds = 10;

export class IdleTimeouts {
  /** 0 = no timeout. */
  readonly #setTimeout: (request: Request, seconds: number) => void;
  /** Waiting since before the last check, so without a timeout. */
  readonly #long = new Set<Request>();
  readonly #waiting = new Set<Request>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(setTimeout: (request: Request, seconds: number) => void) {
    this.#setTimeout = setTimeout;
  }

  /** From now on the connection waits for the response. */
  begin(request: Request): void {
    this.#waiting.add(request);
    this.#timer ??= setInterval(() => this.#liftTimeouts(), checkSeconds * 1_000).unref();
  }

  /**
   * The response is sent. A timeout stays in force until Bun sets the usual one again at the next
   * request of the connection.
   */
  end(request: Request, answerBytes: number): void {
    const isLifted = this.#long.delete(request);
    this.#waiting.delete(request);
    if (answerBytes > largeAnswerBytes) this.#setTimeout(request, readerTimeoutSeconds);
    else if (isLifted) this.#setTimeout(request, idleTimeoutSeconds);
  }

  #liftTimeouts(): void {
    for (const request of this.#waiting) {
      this.#long.add(request);
      this.#setTimeout(request, 0);
    }
    this.#waiting.clear();
    if (this.#long.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
