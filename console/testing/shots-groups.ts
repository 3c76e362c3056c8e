// A queue with groups for pictures: customers whose items are done one at a time, some of them blocked.

import type { Client } from "../../client/client.ts";

const customers = [
  ...["acme", "blue-harbor", "copperfield", "delta-freight", "eastgate", "fjord-supply"],
  ...["granite-works", "harbor-cafe", "ironwood", "juniper-labs", "kestrel-air", "lumen-optics"],
  ...["meridian", "northwind", "oakline-bank", "paper-trail", "quarry-stone", "riverbend"],
];
const owned = { "delta-freight": { rate: "1/1m" }, meridian: { leased_max: 4, weight: 3 } };
const paused = "harbor-cafe";
const dying = "copperfield";
const returning = "juniper-labs";

export async function groupTraffic(client: Client): Promise<void> {
  const timeouts = { lease_timeout: "10m", expire_timeout: "7d" };
  await client.queue("imports-dead").create(timeouts);
  const imports = client.queue("imports");
  const rules = {
    grouped: true,
    group_leased_max: 1,
    group_order: "strict",
    group_on_dead: "block",
  };
  await imports.create({ ...timeouts, ...rules, max_attempts: 5, dead_queue: "imports-dead" });
  for (const [group, settings] of Object.entries(owned)) await imports.setGroup(group, settings);
  await imports.setGroup(paused, { paused: true });
  for (const [at, group] of customers.entries()) {
    const items = Array.from({ length: 3 + ((at * 7) % 23) }, (_, row) => ({
      ...{ kind: "import", reference: `row-${row}`, group, utf8: "{}" },
    }));
    await imports.produce(items);
    await client.advance({ by: "11s" });
  }
  const lease = await imports.lease({ batch: 14, clientId: "worker-3" });
  const of = (name: string) => lease?.items.filter(({ group }) => group === name) ?? [];
  await lease?.retry(of(dying), { dead: true, reason: "the file is not a table" });
  const soon = new Date(Date.parse((await client.overview({})).now) + 90_000).toISOString();
  await client.retry({
    ...{ queue_name: "imports", partition: 0 },
    items: of(returning).map(({ id }) => ({ id, reason: "HTTP 503", retry_at: soon })),
  });
  await lease?.complete(of("delta-freight"));
}
