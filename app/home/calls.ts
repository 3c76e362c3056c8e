// The three calls as the README has them, broken into lines to be read.

export interface Call {
  readonly verb: "produce" | "lease" | "complete";
  readonly title: string;
  readonly text: string;
  /** Where the item is once the call is answered. */
  readonly state: "ready" | "leased" | "completed";
  readonly request: string;
  readonly reply: string;
}

const done = '{"code":200,"code_text":"OK","message":""}';
const id = "1n9rPb4rwKwuC00010000000000";

function curl(path: string, body: readonly string[]): string {
  return [
    `curl -s localhost:9090/v1/${path} \\`,
    "  -H 'Content-Type: application/json' \\",
    "  -d '{",
    body.map((line) => `    ${line}`).join(",\n"),
    "  }'",
  ].join("\n");
}

export const calls: readonly Call[] = [
  {
    verb: "produce",
    title: "The 200 comes after the sync",
    text: "The item was on disk before this answer left.",
    state: "ready",
    request: curl("queue.produce", [
      '"queue_name": "orders"',
      '"request_timeout": "5m"',
      '"items": [{\n      "kind": "order",\n      "utf8": "two anchors"\n    }]',
    ]),
    reply: done,
  },
  {
    verb: "lease",
    title: "Yours, and nobody else’s",
    text: "For the next 60 minutes one client holds the item. If there is none, the call waits for one.",
    state: "leased",
    request: curl("queue.lease", [
      '"queue_name": "orders"',
      '"client_id": "worker-1"',
      '"request_timeout": "1m"',
      '"batch_size": 1',
    ]),
    reply: [
      '{"queue_name":"orders",',
      ' "partition":0,"max_attempts":0,',
      ' "items":[{',
      `  "id":"${id}",`,
      '  "encoding":"","kind":"order",',
      '  "reference":"","attempts":1,',
      '  "lease_deadline":"2026-11-21T11:38:51.793Z",',
      '  "bytes":"dHdvIGFuY2hvcnM="}]}',
    ].join("\n"),
  },
  {
    verb: "complete",
    title: "Removed, and never offered again",
    text: "Say it twice and the second is refused with 453: nobody holds the item any more.",
    state: "completed",
    request: curl("queue.complete", [
      '"queue_name": "orders"',
      '"partition": 0',
      '"request_timeout": "1m"',
      `"ids": ["${id}"]`,
    ]),
    reply: done,
  },
];
