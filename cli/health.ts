// The values of `health` of queues, in the order of severity.

/** The texts of healthy values. */
export const healthyTexts: Readonly<Record<string, string>> = {
  flows: "items flow, and there are no findings",
  idle: "there are no items, and clients wait for some",
  empty: "there are no items, and no client waits for any",
};

/** An unknown word is the most severe. */
const severities = [
  ...[
    "shard_down",
    "store_full",
    "no_consumers",
    "backlog_growing",
    "leases_lapsing",
    "dead_items",
    "groups_blocked",
  ],
  ...[
    "clearing",
    "paused",
    "at_limit",
    "all_leased",
    "all_scheduled",
    ...Object.keys(healthyTexts),
  ],
];

export const severityOf = (health: string): number => severities.indexOf(health);
