import { useEffect, useMemo, useState } from "react";
import { type Read, readPayload } from "./payload.ts";

/** Of base64: 256 kB. What is longer is read in a worker, so that the page goes on meanwhile. */
const inPageCharsMax = Math.ceil(256_000 / 3) * 4;

/** `null`: it is being read. */
export function usePayload(payload: string): Read | null {
  const isLong = payload.length > inPageCharsMax;
  const short = useMemo(() => (isLong ? null : readPayload(payload)), [payload, isLong]);
  const [long, setLong] = useState<{ readonly of: string; readonly read: Read } | null>(null);
  useEffect(() => {
    if (!isLong) return;
    const show = (read: Read) => setLong({ of: payload, read });
    const worker = new Worker(new URL("./payload-worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Read>) => show(data);
    // A page that stands still for a moment is better than one that shows nothing.
    worker.onerror = () => show(readPayload(payload));
    worker.postMessage(payload);
    return () => worker.terminate();
  }, [payload, isLong]);
  return long?.of === payload ? long.read : short;
}
