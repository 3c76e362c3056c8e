// Reads one long payload beside the page.

import { readPayload } from "./payload.ts";

addEventListener("message", ({ data }: MessageEvent<string>) => {
  const read = readPayload(data);
  postMessage(read, { transfer: [read.bytes.buffer] });
});
