// Twins with queues in every shard, and clients that read their overviews.

import { shardOf } from "../../../engine/model/placement.ts";
import type { ServerOverviewReply } from "../../../openapi/schemas.ts";
import { shardCount, Twins } from "./twins.ts";

/** Sorted by character codes; every shard has some of these queues. */
export const names = ["B", "Z", "a", "b", "c", "d", "e", "f", "orders", "{t}.x", "{t}.y", "é"];
export const timed = { request_timeout: "1m" };

export async function withQueues(): Promise<Twins> {
  const twins = await Twins.open();
  for (const name of names.toReversed()) await twins.create(name);
  return twins;
}

/** The first queue of each shard. */
export function oneOfEach(): string[] {
  const firsts = Array.from({ length: shardCount }, (_, shard) =>
    names.find((name) => shardOf(name, shardCount) === shard),
  );
  return firsts.filter((name) => name !== undefined);
}

/** A client that applies overviews according to the contract. */
export class Client {
  readonly rows = new Map<string, Record<string, unknown>>();
  since = "";

  apply(reply: ServerOverviewReply): ServerOverviewReply {
    const { whole, removed, queues, since } = reply;
    if (whole) this.rows.clear();
    for (const name of removed) this.rows.delete(name);
    for (const [at, name] of queues.queue_name.entries()) {
      const row = Object.entries(queues).map(([key, column]) => [key, column[at]]);
      this.rows.set(name, Object.fromEntries(row));
    }
    this.since = since;
    return reply;
  }
}

export async function deadItems(twins: Twins): Promise<void> {
  for (const name of oneOfEach()) {
    await twins.produce(name, "a", "b", "c");
    // Tasks of the same millisecond have no order.
    await twins.advance(1);
    const body = { queue_name: name, action: "delete", filter: { kind: "" }, per_second: 1 };
    await twins.both("repair", body);
  }
}
