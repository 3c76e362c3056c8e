import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import { textScale } from "../../../components/table/virtual-rows.tsx";
import { hexLine, hexWidth } from "./payload.ts";

const lineHeight = 19 * textScale;

/** All bytes; only the lines that are seen are drawn. */
export function HexView({ bytes }: { readonly bytes: Uint8Array }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: Math.ceil(bytes.length / hexWidth),
    getScrollElement: () => place.current?.closest<HTMLElement>(".code") ?? null,
    estimateSize: () => lineHeight,
    overscan: 10,
  });
  return (
    <div ref={place} className="hex" style={{ height: lines.getTotalSize() }}>
      {lines.getVirtualItems().map(({ index, start }) => (
        <pre key={index} style={{ translate: `0 ${start}px` }}>
          {hexLine(bytes, index)}
        </pre>
      ))}
    </div>
  );
}
