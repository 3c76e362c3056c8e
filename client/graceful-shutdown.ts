// Delays the end of a process by a signal until its workers are drained.

interface SignalledProcess {
  readonly pid: number;
  on(signal: string, listener: () => void): unknown;
  off(signal: string, listener: () => void): unknown;
  listenerCount(signal: string): number;
  kill(pid: number, signal: string): unknown;
}

/** Drains in progress because of a signal; the process ends after the last one. */
let draining = 0;

/**
 * Calls `drain` on the first of the signals. Once all drains have ended, sends the signal again to
 * end the process, unless it has other listeners. A second signal ends the process at once. Returns
 * a function that removes the listeners.
 */
export function drainBefore(signals: readonly string[], drain: () => Promise<void>): () => void {
  const process = thisProcess();
  if (process === null) return () => undefined;
  const registered = signals.map((signal) => {
    const onSignal = async (): Promise<void> => {
      remove();
      draining += 1;
      await drain();
      draining -= 1;
      if (draining === 0 && process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    const listener = (): void => void onSignal();
    process.on(signal, listener);
    return { signal, listener };
  });
  const remove = (): void => {
    for (const { signal, listener } of registered) process.off(signal, listener);
  };
  return remove;
}

function thisProcess(): SignalledProcess | null {
  const { process } = globalThis as { process?: SignalledProcess };
  return typeof process?.on === "function" && typeof process.kill === "function" ? process : null;
}
