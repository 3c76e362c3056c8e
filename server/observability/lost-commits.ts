// Commits that a database has lost although they had been acknowledged: told until an operator says
// that they are known.

import { countChanged, QueueError } from "../../engine/model/errors.ts";
import type { OverviewAlarm } from "../../openapi/schemas.ts";
import { JsonText, type Route } from "../routes/route.ts";

export class Losses {
  readonly #lost: () => number;
  #confirmed = 0;

  /** `lost`: as far as the process has noticed, since it began. */
  constructor(lost: () => number) {
    this.#lost = lost;
  }

  /** Of which no operator has said so yet. */
  get unconfirmed(): number {
    return this.#lost() - this.#confirmed;
  }

  /**
   * Those that are lost by now are known; how many that are. Throws `count_changed` where more than
   * `expect` of them were not known yet.
   */
  confirm(expect?: number): number {
    const lost = this.#lost();
    const count = lost - this.#confirmed;
    if (expect !== undefined && count > expect) {
      const as = { verb: "confirmed", what: "lost commits" };
      throw QueueError.from(countChanged(count, expect, as));
    }
    this.#confirmed = lost;
    return lost;
  }
}

/** The same with what this process has lost: the node that has the queues says nothing of others. */
export function tellingLosses(
  overview: Route<"overview">,
  losses: Losses | undefined,
): Route<"overview"> {
  if (losses === undefined) return overview;
  return async (body, caller) => {
    const reply = await overview(body, caller);
    const count = losses.unconfirmed;
    if (count === 0) return reply;
    const told = reply instanceof JsonText ? JSON.parse(reply.text) : reply;
    return new JsonText(JSON.stringify({ ...told, alarms: [alarmOf(count), ...told.alarms] }));
  };
}

function alarmOf(count: number): OverviewAlarm {
  const [commits, were] = count === 1 ? ["A commit", "was"] : [`${count} commits`, "were"];
  const text = `${commits} that had been acknowledged ${were} lost by the database, at least.`;
  return { what: "commits_lost", since: null, count, queue_name: "", shard: -1, text };
}
