// How far back a chart goes, and how far its points are apart.

export const ranges = {
  "15m": { label: "15 m", seconds: 900, step: "10s", stepSeconds: 10 },
  "1h": { label: "1 h", seconds: 3_600, step: "10s", stepSeconds: 10 },
  "6h": { label: "6 h", seconds: 21_600, step: "1m", stepSeconds: 60 },
  "24h": { label: "24 h", seconds: 86_400, step: "1m", stepSeconds: 60 },
} as const;

export type RangeId = keyof typeof ranges;

export function rangeFrom(text: string | null): RangeId {
  return text !== null && text in ranges ? (text as RangeId) : "15m";
}
