// The guarantees of a 200, each with a link to its evidence.

export const claims = [
  {
    title: "It is on disk",
    text: "A turn of the engine makes one commit with one sync, and answers only then. Whatever is answered survives a kill -9 and, with durability full, a power cut.",
    checks: [
      'GET /health  "durability":"full"',
      "holdfast_commit_seconds",
      "bun test server/behaviour/process/lifecycle.test.ts",
    ],
  },
  {
    title: "One holder can finish it",
    text: "A lapsed lease puts the item at the tail under a new id. The old id is no longer valid, so a late holder can change nothing.",
    checks: [
      "complete again: 453, a reason per id",
      "holdfast_queue_items_total",
      "bun test engine/complete.test.ts",
    ],
  },
  {
    title: "The server knows where it is",
    text: "Ready, leased, scheduled or dead: the counts are part of the commit that changes them, so they are exact after a crash too.",
    checks: [
      "POST /v1/queue.inspect",
      "POST /v1/storage/items.list",
      "holdfast_items",
      "bun test engine/counters.test.ts",
    ],
  },
] as const;
