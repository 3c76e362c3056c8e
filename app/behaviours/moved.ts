const moves = ["pointermove", "pointerdown", "keydown", "scroll"] as const;

/** Runs once the reader moves, to keep the initial load free of this work. */
export function onceMoved(run: () => void): void {
  const waiting = new AbortController();
  const begin = () => {
    waiting.abort();
    run();
  };
  for (const move of moves) {
    window.addEventListener(move, begin, { passive: true, signal: waiting.signal });
  }
  if (scrollY > 0) begin();
}
