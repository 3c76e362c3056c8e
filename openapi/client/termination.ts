// Where there is a process that signals can end, its end waits for what has to be drained.

interface SignalledProcess {
  readonly pid: number;
  on(signal: string, listener: () => void): unknown;
  off(signal: string, listener: () => void): unknown;
  listenerCount(signal: string): number;
  kill(pid: number, signal: string): unknown;
}

/**
 * Calls `drain` on the first of the signals, and lets the process end by that signal once it
 * has resolved, unless something else listens for it too. Returns what takes this back.
 */
export function drainBefore(signals: readonly string[], drain: () => Promise<void>): () => void {
  const process = thisProcess();
  if (process === null) return () => undefined;
  const taken = signals.map((signal) => {
    const listener = async (): Promise<void> => {
      await drain();
      takeBack();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    const heard = (): void => void listener();
    process.on(signal, heard);
    return { signal, heard };
  });
  const takeBack = (): void => {
    for (const { signal, heard } of taken) process.off(signal, heard);
  };
  return takeBack;
}

function thisProcess(): SignalledProcess | null {
  const { process } = globalThis as { process?: SignalledProcess };
  return typeof process?.on === "function" && typeof process.kill === "function" ? process : null;
}
