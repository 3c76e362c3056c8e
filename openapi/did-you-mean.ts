// Suggests a known word in messages about unknown flags and keys.

/** ` (did you mean X?)` with the nearest of `words`, or `""` if none is near. */
export function didYouMean(word: string, words: readonly string[]): string {
  const match = nearest(word, words);
  return match === null ? "" : ` (did you mean ${match}?)`;
}

/** The word with the fewest edits from `word`, at most 2 and at most half its length. */
export function nearest(word: string, words: readonly string[]): string | null {
  let best: string | null = null;
  let bestEdits = Math.min(2, Math.floor(word.length / 2)) + 1;
  for (const candidate of words) {
    const edits = editsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (edits < bestEdits) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

/** The Levenshtein distance, computed row by row. */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const changed = (above[column] ?? 0) + (letter === other ? 0 : 1);
      const dropped = (above[column + 1] ?? 0) + 1;
      const added = (current[column] ?? 0) + 1;
      current.push(Math.min(changed, dropped, added));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
