import type { ReactNode } from "react";
import { Segments } from "../segments.tsx";
import { useAddress } from "../use-address.ts";

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

/** The range of the page's charts, kept in the address. */
export function useRange() {
  const [query, change] = useAddress();
  const choose = (id: RangeId) => change({ range: id === "15m" ? "" : id });
  return { range: rangeFrom(query.get("range")), choose };
}

const labels = Object.fromEntries(
  Object.entries(ranges).map(([id, { label }]) => [id, label]),
) as Record<RangeId, string>;

interface RangeChoiceProps {
  readonly range: RangeId;
  readonly onChoose: (range: RangeId) => void;
}

export function RangeChoice({ range, onChoose }: RangeChoiceProps): ReactNode {
  return <Segments legend="Range" of={labels} chosen={range} onChoose={onChoose} isAtEnd />;
}
