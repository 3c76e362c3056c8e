// Requests whose bodies are invalid values or texts: numbers, texts, names, instants and durations
// that often break programs.

import { type OperationId, operations } from "../../../openapi/operations.ts";
import { base64, durations, ids, instants, queueNames, texts, timeouts } from "../bodies/words.ts";
import type { RawRow } from "./raw-corpus.ts";

type Row = readonly [
  name: string,
  id: OperationId,
  body: string | Uint8Array,
  expected: readonly number[],
];

const orders = { queue_name: "orders" };
const timed = { ...orders, request_timeout: "1m" };
const leased = { ...timed, partition: 0 };
const sampleId = "1h0LdFaStQ2vX000000000000Kd";

const text = (value: unknown): string => JSON.stringify(value);
const produce = (item: unknown): string => text({ ...timed, items: [item] });
const items = (count: number): string => text({ ...timed, items: new Array(count).fill({}) });
/** A short name, different for each text. */
const named = (name: string) => `${JSON.stringify(name.slice(0, 30))} of ${name.length}`;

function deep(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

const json: readonly Row[] = [
  ["nesting of 100,000 lists", "stats", deep(100_000), [400]],
  ["nesting of a million lists in a produce", "produce", deep(1_000_000), [400]],
  ["nesting of a million lists without an end", "produce", "[".repeat(1_000_000), [400]],
  ["nesting in a key", "produce", `{"queue_name":${deep(500_000)}}`, [400]],
  [
    "10,000 keys",
    "stats",
    text(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, n]))),
    [400],
  ],
  ["a key twice", "stats", '{"queue_name":"none","queue_name":"orders"}', [200]],
  ["a prototype as a key", "stats", '{"queue_name":"orders","__proto__":{"x":1}}', [400]],
  [
    "a constructor as a key",
    "stats",
    '{"queue_name":"orders","constructor":{"prototype":{}}}',
    [400],
  ],
  ["a byte order mark", "stats", `\ufeff${text(orders)}`, [400]],
  ["UTF-16", "stats", Buffer.from(`\ufeff${text(orders)}`, "utf16le"), [400]],
  ["not UTF-8", "stats", Buffer.from('{"queue_name":"\xff\xfe"}', "latin1"), [400]],
  [
    "UTF-8 that is longer than need be",
    "stats",
    Buffer.from('{"queue_name":"\xc0\xaf"}', "latin1"),
    [400],
  ],
  ["surrogates in UTF-8", "stats", Buffer.from('{"queue_name":"\xed\xa0\x80"}', "latin1"), [400]],
  ["half a surrogate pair", "stats", '{"queue_name":"\\ud800"}', [400]],
  ["a surrogate pair the wrong way round", "stats", '{"queue_name":"\\udc00\\ud800"}', [400]],
  ["a NUL in a name", "stats", '{"queue_name":"a\\u0000b"}', [400]],
  ["a NUL in a payload", "produce", produce({ utf8: "a\u0000b" }), [200]],
  ["a NUL behind the body", "stats", `${text(orders)}\0`, [400]],
  ["no value", "stats", "undefined", [400]],
  ["NaN", "stats", '{"queue_name":NaN}', [400]],
  ["a comma too many", "stats", '{"queue_name":"orders",}', [400]],
  ["blanks alone", "stats", " ".repeat(100_000), [400]],
  ["null", "stats", "null", [400]],
  ["a line's end in a text", "stats", '{"queue_name":"or\nders"}', [400]],
];

const numbers: readonly Row[] = [
  ["1e999", "400"],
  ["-1e999", "400"],
  ["-1", "400"],
  ["1.5", "400"],
  ["-0", "200"],
  ["1e0", "400"],
  ["9007199254740993", "400"],
  ["9223372036854775808", "400"],
  ["18446744073709551616", "400"],
  [`1${"0".repeat(10_000)}`, "400"],
].map(([number = "", code]) => [
  `partition ${number.slice(0, 24)}`,
  "listItems",
  `{"queue_name":"orders","partition":${number},"pivot":"","limit":1}`,
  [Number(code)],
]);

const batches: readonly Row[] = [
  ["no items", "produce", items(0), [400]],
  ["1 item", "produce", items(1), [200]],
  ["1,000 items", "produce", items(1_000), [200]],
  ["1,001 items", "produce", items(1_001), [400]],
  ["100,000 items", "produce", items(100_000), [400]],
  ["no ids", "complete", text({ ...leased, ids: [] }), [400]],
  ["1,001 ids", "complete", text({ ...leased, ids: new Array(1_001).fill(sampleId) }), [400]],
  ["an id twice", "complete", text({ ...leased, ids: [sampleId, sampleId] }), [400, 453]],
  [
    "an item twice",
    "retry",
    text({ ...orders, partition: 0, items: [{ id: sampleId }, { id: sampleId }] }),
    [400, 453],
  ],
  ["an id of 10 MB", "complete", text({ ...leased, ids: ["1".repeat(10_000_000)] }), [413]],
  ["an id of 200 kB", "complete", text({ ...leased, ids: ["1".repeat(200_000)] }), [400, 453]],
  ["a batch of 0", "lease", text({ ...timed, client_id: "a", batch_size: 0 }), [400]],
  ["a batch of 1,001", "lease", text({ ...timed, client_id: "a", batch_size: 1_001 }), [400]],
  [
    "a client of 200 kB",
    "lease",
    text({ ...timed, request_timeout: "10ms", client_id: "c".repeat(200_000) }),
    [200, 400, 454],
  ],
];

const names: readonly Row[] = [
  ...queueNames.bad.map(
    (name): Row => [`queue ${named(name)}`, "stats", text({ queue_name: name }), [400]],
  ),
  // Rows below create them, concurrently or in an earlier run.
  ...queueNames.odd.map(
    (name): Row => [`queue ${named(name)}`, "stats", text({ queue_name: name }), [200, 400]],
  ),
  ...queueNames.odd.map(
    (name): Row => [
      `queue ${named(name)}, made`,
      "createQueue",
      text({ queue_name: name, lease_timeout: "1m", expire_timeout: "1h" }),
      [200, 400],
    ],
  ),
];

const words: readonly Row[] = [
  ...durations.bad.map(
    (value): Row => [
      `request_timeout ${named(value)}`,
      "produce",
      text({ ...timed, request_timeout: value, items: [{}] }),
      [400],
    ],
  ),
  ...timeouts.bad.map(
    (value): Row => [
      `lease_timeout ${named(value)}`,
      "createQueue",
      text({ queue_name: "never", lease_timeout: value, expire_timeout: "8784h" }),
      // Two odd values are nevertheless durations.
      ["1", "9ms", "16m"].includes(value) ? [200, 400] : [400],
    ],
  ),
  ...instants.bad.map(
    (value): Row => [
      `enqueue_at ${named(value)}`,
      "produce",
      produce({ enqueue_at: value }),
      [400],
    ],
  ),
  ...instants.good.map(
    (value): Row => [
      `enqueue_at ${named(value)}`,
      "produce",
      produce({ enqueue_at: value }),
      [200],
    ],
  ),
  ...base64.bad.map(
    (value): Row => [`bytes ${named(value)}`, "produce", produce({ bytes: value }), [400]],
  ),
  ...base64.good.map(
    (value): Row => [`bytes ${named(value)}`, "produce", produce({ bytes: value }), [200]],
  ),
  ...texts.good.map(
    (value): Row => [`kind ${named(value)}`, "produce", produce({ kind: value }), [200]],
  ),
  ...texts.bad.map(
    (value): Row => [`kind ${named(value)}`, "produce", produce({ kind: value }), [400]],
  ),
  ...ids.bad.map(
    (value): Row => [
      `id ${named(value)}`,
      "complete",
      text({ ...leased, ids: [value] }),
      [400, 453],
    ],
  ),
  ...ids.bad.map(
    (value): Row => [
      `pivot ${named(value)}`,
      "listItems",
      text({ ...orders, partition: 0, pivot: value, limit: 1 }),
      [200, 400],
    ],
  ),
];

export const rawBodies: readonly RawRow[] = [
  ...json,
  ...numbers,
  ...batches,
  ...names,
  ...words,
].map(([name, id, body, expected]) => ({
  name: `${id}: ${name}`,
  bytes: requestOf(id, Buffer.from(body)),
  expected,
}));

function requestOf(id: OperationId, body: Buffer): Uint8Array {
  const head = [
    `POST ${operations[id].path} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${body.byteLength}`,
    "",
    "",
  ];
  return Buffer.concat([Buffer.from(head.join("\r\n")), body]);
}
