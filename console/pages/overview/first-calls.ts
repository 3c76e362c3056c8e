// The three calls that make a queue work, as the empty page has them.

import type { Call } from "../../api/call.ts";

export interface FirstStep {
  readonly verb: string;
  readonly title: string;
  readonly meaning: string;
  readonly call: Call<"createQueue"> | Call<"produce"> | Call<"lease">;
}

const queueName = "orders";

export const firstSteps: readonly FirstStep[] = [
  {
    verb: "create",
    title: "A queue",
    meaning: "It exists once the 200 is there.",
    call: {
      id: "createQueue",
      body: { queue_name: queueName, lease_timeout: "60m", expire_timeout: "24h" },
    },
  },
  {
    verb: "produce",
    title: "An item",
    meaning: "It is on disk before the answer is sent.",
    call: {
      id: "produce",
      body: {
        queue_name: queueName,
        request_timeout: "5m",
        items: [{ kind: "order", utf8: "two anchors" }],
      },
    },
  },
  {
    verb: "lease",
    title: "Hold it",
    meaning: "For 60 minutes it is yours, in the clamp of its page.",
    call: {
      id: "lease",
      body: { queue_name: queueName, client_id: "console", request_timeout: "1m", batch_size: 1 },
    },
  },
];
