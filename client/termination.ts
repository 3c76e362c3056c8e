// Where there is a process that signals can end, its end waits for what has to be drained.

interface SignalledProcess {
  readonly pid: number;
  on(signal: string, listener: () => void): unknown;
  off(signal: string, listener: () => void): unknown;
  listenerCount(signal: string): number;
  kill(pid: number, signal: string): unknown;
}

/** Drains of this process that a signal has begun; it ends with the last of them. */
let draining = 0;

/**
 * Calls `drain` on the first of the signals, and lets the process end by that signal once
 * every drain is over, unless something else listens for it too. A second signal finds nobody
 * listening and ends the process at once. Returns what takes this back.
 */
export function drainBefore(signals: readonly string[], drain: () => Promise<void>): () => void {
  const process = thisProcess();
  if (process === null) return () => undefined;
  const taken = signals.map((signal) => {
    const heard = async (): Promise<void> => {
      takeBack();
      draining += 1;
      await drain();
      draining -= 1;
      if (draining === 0 && process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    const listener = (): void => void heard();
    process.on(signal, listener);
    return { signal, listener };
  });
  const takeBack = (): void => {
    for (const { signal, listener } of taken) process.off(signal, listener);
  };
  return takeBack;
}

function thisProcess(): SignalledProcess | null {
  const { process } = globalThis as { process?: SignalledProcess };
  return typeof process?.on === "function" && typeof process.kill === "function" ? process : null;
}
