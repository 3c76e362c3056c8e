// Bounds the concurrent exchanges of a client, and so its connections, because a runtime opens one
// for each. Leases wait at the server for up to a minute. They have a share of their own, so that
// they never delay a produce or a complete.

export interface Connections {
  /** The share of connections for an operation. */
  of(operation: string): Semaphore;
  /**
   * Reserves a connection for a copy of an unanswered call. Each address has one copy at a time, so
   * that a slow server is not made slower. Returns the release; `null` = aborted before.
   */
  forCopy(address: string, share: Semaphore, ending: AbortSignal): Promise<(() => void) | null>;
}

export function openConnections(max: number): Connections {
  if (!Number.isInteger(max) || max < 2) {
    throw new RangeError(
      `connectionsMax is invalid; expected a whole number from 2, got ${String(max)}`,
    );
  }
  const leasesMax = Math.max(1, Math.floor((max * 3) / 4));
  const leases = new Semaphore(leasesMax);
  const others = new Semaphore(max - leasesMax);
  const copies = new Map<string, Semaphore>();
  return {
    of: (operation) => (operation === "lease" ? leases : others),

    async forCopy(address, share, ending) {
      const turn = copies.get(address) ?? new Semaphore(1);
      copies.set(address, turn);
      if (!(await acquired(turn, ending))) return null;
      if (await acquired(share, ending)) {
        return () => {
          share.release();
          turn.release();
        };
      }
      turn.release();
      return null;
    },
  };
}

async function acquired(share: Semaphore, ending: AbortSignal): Promise<boolean> {
  if (!share.tryAcquire() && !(await share.acquire(ending))) return false;
  if (!ending.aborted) return true;
  share.release();
  return false;
}

export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  /** Reserves a connection if one is free. The caller must release it. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Waits for a connection, first come, first served; `false` = the signal was aborted before. */
  acquire(ending: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isTaken: boolean): void => {
        this.#waiting.delete(get);
        ending.removeEventListener("abort", leave);
        resolve(isTaken);
      };
      const get = (): void => settle(true);
      const leave = (): void => settle(false);
      this.#waiting.add(get);
      ending.addEventListener("abort", leave);
      if (ending.aborted) leave();
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next();
  }
}
