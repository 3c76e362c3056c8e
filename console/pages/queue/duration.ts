// Durations as the server writes them.

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Of `1h30m`; `null` where it is none, as `never` is not. */
export function durationMs(text: string): number | null {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0) return null;
  return parts.reduce((sum, [, figure, unit]) => {
    return sum + Number(figure) * unitMs[unit as keyof typeof unitMs];
  }, 0);
}
