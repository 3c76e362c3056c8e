// The patterns of texts in `openapi.json`, compared with the texts that the server accepts: neither
// is looser, except for bounds and nonexistent days.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDuration } from "../../engine/model/duration.ts";
import { isId } from "../../engine/model/ids.ts";
import { checkQueueName } from "../../engine/model/validate.ts";
import { forms } from "../../openapi/forms.ts";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import type { OperationId } from "../../openapi/operations.ts";
import { orders, type RunningApp, run, timed } from "../testing/running-app.ts";
import { parseInstant } from "../wire/fields.ts";

interface Published {
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly items?: Published;
}

type Schemas = Record<string, { readonly properties: Record<string, Published> }>;
const schemas = openapi.components.schemas as unknown as Schemas;

/** Whether a validator accepts the text according to the document. */
function isOfForm(schema: string, key: string, text: string): boolean {
  const found = schemas[schema]?.properties[key];
  const { pattern, maxLength = Number.POSITIVE_INFINITY } = found?.items ?? found ?? {};
  if (pattern === undefined) throw new Error(`${schema}.${key} has no pattern`);
  return new RegExp(pattern, "u").test(text) && [...text].length <= maxLength;
}

const durations = {
  good: [
    "10ms",
    "1.5s",
    ".5s",
    "1.s",
    "+2m",
    "1m30s",
    "12m",
    "14m59s999ms",
    "1000000us",
    "20000\u00b5s",
  ],
  bad: [
    "0",
    "-1s",
    "1",
    "s",
    "1 s",
    "1w",
    "1M",
    "1m ",
    "1..5s",
    "1e3s",
    "٣s",
    "soon",
    "5 minutes",
    "never",
  ],
};
const days = { good: [...durations.good, "7d", "1d12h", "0.5d", "8784h"], bad: durations.bad };
const instants = {
  good: [
    "2026-03-01T12:00:00Z",
    "2026-03-01t12:00:00.123456789z",
    "2026-03-01T13:00:00.5+01:00",
    "2026-03-01 12:00:00.0000",
    "2026-03-01 12:00:00+01:00",
  ],
  bad: [
    ...["tomorrow", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01T12:00Z", "20260301T120000Z"],
    ...["2026-13-01T12:00:00Z", "2026-03-32T12:00:00Z", "2026-03-01T24:00:00Z", "0", "1740830400"],
    ...["2026-03-01T12:00:00.Z", "2026-03-01T12:00:00+24:00", " 2026-03-01T12:00:00Z"],
  ],
};
const names = {
  good: ["a", "orders", "a/b", "..", "é", "😀", "日本", "x".repeat(512)],
  bad: [
    "",
    " ",
    "a b",
    "a\tb",
    "a~b",
    "a\u0000",
    "a\u0085",
    "a\u00a0b",
    "a\u2003b",
    "x".repeat(513),
  ],
};
const ids = {
  good: ["1h0LdFaStQ2vX000000000000Kd", "0".repeat(27), "z".repeat(27)],
  bad: [
    "a",
    "1h0LdFaStQ2vX000000000000K",
    `${"0".repeat(26)}-`,
    "0".repeat(28),
    `${"0".repeat(26)}é`,
  ],
};
const orNone = <T extends { readonly good: readonly string[] }>(texts: T) => ({
  ...texts,
  good: ["", ...texts.good],
});
const required = <T extends { readonly bad: readonly string[] }>(texts: T) => ({
  ...texts,
  bad: ["", ...texts.bad],
});

const settings = { lease_timeout: "1s", expire_timeout: "8784h" };
const created = { ...settings, queue_name: "made" };
const page = { ...orders, partition: 0, limit: 1 };
const oneOf = (item: object) => ({ ...orders, partition: 0, items: [item] });
const longExpire = { expire_timeout: "never" };

/** A key of a schema, texts for it, and the call that takes one. */
const cases: readonly (readonly [
  key: `${string}.${string}`,
  texts: { readonly good: readonly string[]; readonly bad: readonly string[] },
  id: OperationId,
  body: (text: string) => object,
])[] = [
  [
    "ProduceRequest.request_timeout",
    required(durations),
    "produce",
    (text) => ({ ...timed, request_timeout: text, items: [{}] }),
  ],
  [
    "RetryRequest.request_timeout",
    orNone(durations),
    "retry",
    (text) => ({ ...oneOf({ id: ids.good[0] }), request_timeout: text }),
  ],
  [
    "LeaseRequest.lease_timeout",
    orNone(days),
    "lease",
    (text) => ({ ...timed, client_id: "c", lease_timeout: text }),
  ],
  [
    "LeaseRequest.client_id",
    { good: ["c", " c "], bad: ["", " ", "\u2003"] },
    "lease",
    (text) => ({ ...timed, client_id: text }),
  ],
  [
    "QueueCreateRequest.lease_timeout",
    required(days),
    "createQueue",
    (text) => ({ ...created, ...longExpire, lease_timeout: text }),
  ],
  [
    "QueueCreateRequest.expire_timeout",
    required({ good: ["never", ...days.good], bad: days.bad.filter((text) => text !== "never") }),
    "createQueue",
    (text) => ({ ...created, lease_timeout: "1ms", expire_timeout: text }),
  ],
  [
    "QueueCreateRequest.queue_name",
    names,
    "createQueue",
    (text) => ({ ...settings, queue_name: text }),
  ],
  [
    "QueueCreateRequest.namespace",
    { good: ["", "_system"], bad: ["x", "_System", " "] },
    "createQueue",
    (text) => ({ ...created, namespace: text }),
  ],
  [
    "QueueUpdateRequest.dead_queue",
    { good: ["", "dead"], bad: ["de ad", "de~ad", "x".repeat(501)] },
    "updateQueue",
    (text) => ({ ...orders, dead_queue: text }),
  ],
  [
    "QueuesListRequest.pivot",
    { good: ["", "a b", "orders"], bad: ["a~"] },
    "listQueues",
    (text) => ({ pivot: text, limit: 1 }),
  ],
  [
    "QueuesListRequest.namespace",
    { good: ["", "_system"], bad: ["x"] },
    "listQueues",
    (text) => ({ pivot: "", limit: 1, namespace: text }),
  ],
  ["StorageListRequest.pivot", orNone(ids), "listItems", (text) => ({ ...page, pivot: text })],
  [
    "StorageDeleteRequest.ids",
    required(ids),
    "deleteItems",
    (text) => ({ ...orders, partition: 0, ids: [text] }),
  ],
  ["CancelItemsRequest.ids", required(ids), "cancelItems", (text) => ({ ...orders, ids: [text] })],
  [
    "CompleteRequest.ids",
    required(ids),
    "complete",
    (text) => ({ ...timed, partition: 0, ids: [text] }),
  ],
  ["RetryItem.id", required(ids), "retry", (text) => oneOf({ id: text })],
  [
    "RetryItem.retry_at",
    orNone(instants),
    "retry",
    (text) => oneOf({ id: ids.good[0], retry_at: text }),
  ],
  [
    "ProduceItem.enqueue_at",
    orNone(instants),
    "produce",
    (text) => ({ ...timed, items: [{ enqueue_at: text }] }),
  ],
  [
    "ImportItem.expire_deadline",
    orNone(instants),
    "importItems",
    (text) => oneOf({ expire_deadline: text }),
  ],
  ["ImportItem.created_at", orNone(instants), "importItems", (text) => oneOf({ created_at: text })],
];

/** Whether the server could parse the text, even if it then refused the request. */
async function isTaken(app: RunningApp, id: OperationId, body: object): Promise<boolean> {
  const { body: reply } = await app.call(id, body);
  return reply.reason !== "malformed" && !/Valid encoded KSUIDs/.test(reply.message ?? "");
}

describe("the document and the server agree on each text", () => {
  test.each(cases)("%s", async (key, { good, bad }, id, body) => {
    const [schema = "", name = ""] = key.split(".");
    for (const [texts, expected] of [
      [good, true],
      [bad, false],
    ] as const) {
      for (const text of texts) {
        await using app = await run();
        await app.create("dead");
        await app.produce("a");
        expect({ text, document: isOfForm(schema, name, text) }).toEqual({
          text,
          document: expected,
        });
        expect({ text, server: await isTaken(app, id, body(text)) }).toEqual({
          text,
          server: expected,
        });
      }
    }
  });
});

const anyOf = (...parts: readonly string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 6 }).map((some) => some.join(""));
const digits = (max: number) => fc.integer({ min: 0, max }).map((one) => `${one}`.padStart(2, "0"));
const always = { numRuns: 2_000 };

test("any text: only a valid duration can be read as one", () => {
  const texts = anyOf(
    "1",
    "0",
    ".",
    "ms",
    "s",
    "m",
    "h",
    "d",
    "us",
    "ns",
    "µs",
    "+",
    "-",
    " ",
    "x",
  );
  const form = new RegExp(forms.duration, "u");
  fc.assert(
    fc.property(texts, (text) => {
      // A zero without a unit, or a negative number, means that the timeout is not set.
      const isRead = parseDuration(text).ok && !/^[+-]?0$|^-/.test(text);
      expect(form.test(text)).toBe(isRead);
    }),
    always,
  );
});

test("any text: only a valid date-time can be read as one", () => {
  const fraction = anyOf("", ".", "0", "9");
  const zone = fc.oneof(
    fc.constantFrom("", "Z", "z", "+01:00", "-00:00", "+0100", "+1:00"),
    digits(25).map((hour) => `+${hour}:00`),
  );
  const texts = fc
    .tuple(
      digits(13),
      digits(28),
      fc.constantFrom("T", "t", " ", "_"),
      digits(25),
      digits(61),
      digits(61),
      fraction,
      zone,
    )
    .map(
      ([month, day, middle, hour, minute, second, rest, end]) =>
        `2026-${month}-${day}${middle}${hour}:${minute}:${second}${rest}${end}`,
    );
  const form = new RegExp(forms.dateTime, "u");
  fc.assert(
    fc.property(texts, (text) => {
      expect(form.test(text)).toBe(parseInstant(text) !== null);
    }),
    always,
  );
});

test("any text: the form of a name or an id matches the engine's check", () => {
  const isName = (text: string) => {
    try {
      checkQueueName(text);
      return true;
    } catch {
      return false;
    }
  };
  const [name, id] = [new RegExp(forms.queueName, "u"), new RegExp(forms.itemId, "u")];
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 4 }), (text) => {
      // JSON in UTF-8 has no lone surrogates.
      fc.pre(text.isWellFormed());
      expect(name.test(text)).toBe(isName(text));
    }),
    always,
  );
  for (let code = 0; code < 0x3100; code += 1) {
    const text = String.fromCharCode(code);
    expect([code, name.test(text)]).toEqual([code, isName(text)]);
  }
  fc.assert(
    fc.property(fc.string({ minLength: 26, maxLength: 28 }), (text) => {
      expect(id.test(text)).toBe(isId(text));
    }),
    always,
  );
});
