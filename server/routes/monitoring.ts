// Routes for a console: the findings and clients of a queue, and an overview of all queues.

import type { Engine } from "../../engine/model/api.ts";
import { bounds } from "../../openapi/bounds.ts";
import { visibleTo } from "../auth/key-rights.ts";
import type { OverviewReplies } from "../observability/overview.ts";
import { clientsReply, explainReply } from "../wire/monitoring.ts";
import type { Routes } from "./route.ts";

export function monitoringRoutes(
  engine: Pick<Engine<string>, "explain" | "clients">,
  overview: OverviewReplies,
): Routes<"explain" | "clients" | "overview"> {
  return {
    async explain(body, { identity }) {
      return explainReply(engine.explain(body.queue_name, visibleTo(identity)));
    },

    async clients(body) {
      const { queue_name: queue, limit } = body;
      return clientsReply(await engine.clients({ queue, limit: limit ?? bounds.clientsDefault }));
    },

    async overview({ since }, { identity }) {
      return overview.reply(since ?? "", identity);
    },
  };
}
