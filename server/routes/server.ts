// The server as a whole.

import type { OverviewReplies } from "../overview.ts";
import type { Routes } from "./route.ts";

export function serverRoutes(overview: OverviewReplies): Routes<"overview"> {
  return {
    async overview({ since }) {
      return overview.reply(since ?? "");
    },
  };
}
