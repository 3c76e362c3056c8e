// Routes about the server: API keys, lost commits and the list of actions.

import { checkExpect } from "../../engine/model/validate.ts";
import type { KeyInfo } from "../../openapi/schemas.ts";
import { allRights, rightsReply } from "../auth/key-rights.ts";
import type { Audit } from "../observability/audit.ts";
import type { LostCommits } from "../observability/lost-commits.ts";
import type { Routes } from "./route.ts";

/** `keys` is absent if the server needs no API keys. */
export function keysRoutes(
  keys: (() => readonly KeyInfo[] | Promise<readonly KeyInfo[]>) | undefined,
): Routes<"whoAmI" | "listKeys"> {
  return {
    async whoAmI(_, { identity }) {
      const { name, rights } = identity ?? { name: "", rights: [allRights] };
      return { name, ...rightsReply({ rights }), keys_required: identity !== null };
    },

    async listKeys() {
      return { items: [...((await keys?.()) ?? [])] };
    },
  };
}

/** `losses` is absent if commits cannot be lost. */
export function lossRoutes(losses: LostCommits | undefined): Routes<"confirmLoss"> {
  return {
    async confirmLoss({ expect }) {
      checkExpect(expect);
      return { lost_commits: losses?.confirm(expect) ?? 0 };
    },
  };
}

export function actionsRoutes(audit: Audit): Routes<"listActions"> {
  return {
    async listActions(body, caller) {
      return audit.list(body, caller);
    },
  };
}
