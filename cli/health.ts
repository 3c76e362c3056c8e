// The health words of queues, in the order of severity.

/** The words of healthy queues, with their texts. */
export const fine: Readonly<Record<string, string>> = {
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
  ],
  ...["clearing", "paused", "at_limit", "all_leased", "all_scheduled", ...Object.keys(fine)],
];

export const severityOf = (health: string): number => severities.indexOf(health);
