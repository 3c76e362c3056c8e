// Acknowledged commits that a database has lost: reported until an operator confirms them.

import { countChanged, QueueError } from "../../engine/model/errors.ts";
import type { OverviewAlarm } from "../../openapi/schemas.ts";
import { JsonText, type Route } from "../routes/route.ts";

export class LostCommits {
  readonly #lost: () => number;
  #confirmed = 0;

  /** `lost`: how many were noticed since the process started. */
  constructor(lost: () => number) {
    this.#lost = lost;
  }

  get unconfirmed(): number {
    return this.#lost() - this.#confirmed;
  }

  /**
   * Confirms all that are lost by now and returns their number. Throws `count_changed` if more than
   * `expect` were unconfirmed.
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

/** Adds the lost commits of this process: a node reports only its own. */
export function withLostCommits(
  route: Route<"overview">,
  lostCommits: LostCommits | undefined,
): Route<"overview"> {
  if (lostCommits === undefined) return route;
  return async (body, caller) => {
    const reply = await route(body, caller);
    const count = lostCommits.unconfirmed;
    if (count === 0) return reply;
    const overview = reply instanceof JsonText ? JSON.parse(reply.text) : reply;
    return new JsonText(
      JSON.stringify({ ...overview, alarms: [alarmOf(count), ...overview.alarms] }),
    );
  };
}

function alarmOf(count: number): OverviewAlarm {
  const [commits, were] = count === 1 ? ["A commit", "was"] : [`${count} commits`, "were"];
  const text = `${commits} that had been acknowledged ${were} lost by the database, at least.`;
  return { kind: "commits_lost", since: null, count, queue_name: "", shard: -1, text };
}
