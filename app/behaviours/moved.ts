const moves = ["pointermove", "pointerdown", "keydown", "scroll"] as const;

/** Once the reader moves: a page that has just come has better to do. */
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
