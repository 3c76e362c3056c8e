// OpenPanel's client can record sessions; the site never does, and does not ship the
// recorder, which is many times the client's size.

import type { Plugin } from "vite";

const id = "\0no-replay";

/** In place of the recorder. */
export const noRecorder = "export const record = undefined;";

export function noReplayPlugin(): Plugin {
  return {
    name: "holdfast-no-replay",
    enforce: "pre",
    resolveId: (source) => (source === "rrweb" ? id : undefined),
    load: (source) => (source === id ? noRecorder : undefined),
  };
}
