// The codec, compared with a second library that reads the .proto file.

import { describe, expect, test } from "bun:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { type OperationId, operations } from "../../openapi/operations.ts";
import {
  type Field,
  type Message,
  operationMessages,
  replyMessage,
} from "../../openapi/protobuf.ts";
import type { Reply } from "../../openapi/schemas.ts";
import { bodyLimits } from "../http/body/body-limits.ts";
import { decoded, encoded, protoFile, type Values } from "../testing/independent-protobuf.ts";
import { messageReader, messageWriter, piecewiseReader } from "./codec.ts";

const ids = Object.keys(operations) as readonly OperationId[];
const yearOne = "0001-01-01T00:00:00.000Z";

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex.replaceAll(" ", ""));
}

/** A field of bytes, such as those of a message. */
function nested(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
}

/** A JSON value of the field's kind, zeros included. */
function valueFor({ kind, isList }: Field): fc.Arbitrary<unknown> {
  const one = (): fc.Arbitrary<unknown> => {
    if (typeof kind !== "string") return valuesOf(kind);
    switch (kind) {
      case "text":
        return fc.string({ unit: "grapheme" });
      case "duration":
        return fc.constantFrom("", "10ms", "1.5s", "1h0m0s");
      case "whole":
        return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
      case "long":
        return fc.maxSafeInteger();
      case "flag":
        return fc.boolean();
      case "bytes":
        return fc.uint8Array().map((bytes) => bytes.toBase64());
      case "instant":
        return fc
          .date({
            min: new Date(1),
            max: new Date("9999-12-31T23:59:59.999Z"),
            noInvalidDate: true,
          })
          .map((date) => date.toISOString());
      case "texts":
        return fc.dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== "__proto__"),
          fc.string(),
        );
    }
  };
  return isList ? fc.array(one(), { maxLength: 3 }) : one();
}

function valuesOf({ fields }: Message): fc.Arbitrary<Values> {
  const arbitraries = Object.entries(fields).map(
    ([key, field]) =>
      [key, field.constant === undefined ? valueFor(field) : fc.constant(field.constant)] as const,
  );
  return fc.record(Object.fromEntries(arbitraries)) as fc.Arbitrary<Values>;
}

/** The values without zeros, which proto3 does not write. */
function withoutZeros({ fields }: Message, values: Values): Values {
  const entries = Object.entries(fields).flatMap(([key, field]) => {
    const { kind, isList, hasPresence, unset } = field;
    const value = values[key];
    const one = (inner: unknown) =>
      typeof kind === "string" ? inner : withoutZeros(kind, inner as Values);
    if (kind === "texts" && Object.keys(value as Values).length === 0) return [];
    if (isList && hasPresence && (value as readonly unknown[]).length === 0) return [];
    if (isList) return [[key, (value as readonly unknown[]).map(one)] as const];
    if (hasPresence || (value !== "" && value !== 0 && value !== false)) return [[key, one(value)]];
    return unset === undefined ? [] : [[key, unset] as const];
  });
  return Object.fromEntries(entries);
}

describe.each(ids)("%s", (id) => {
  const { request, reply } = operationMessages[id];

  test("a request that the second library wrote is read as it was meant", () => {
    const read = messageReader(request);
    fc.assert(
      fc.property(valuesOf(request), (values) => {
        expect(read(encoded(request, values))).toEqual(withoutZeros(request, values));
      }),
      { numRuns: 50 },
    );
  });

  test("a reply is read by the second library as it was meant", () => {
    const write = messageWriter(reply);
    fc.assert(
      fc.property(valuesOf(reply), (values) => {
        expect(decoded(reply, write(values))).toEqual(values);
      }),
      { numRuns: 50 },
    );
  });
});

describe("requests", () => {
  const read = messageReader(operationMessages.produce.request);
  const type = protoFile.lookupType("holdfast.v1.ProduceRequest");

  test("no bytes are a message of which nothing is set", () => {
    expect(read(new Uint8Array())).toEqual({ queue_name: "", request_timeout: "", items: [] });
    expect(messageReader(operationMessages.updateQueue.request)(new Uint8Array())).toEqual({
      queue_name: "",
      dead_queue: "",
      reference: "",
      max_attempts: 0,
    });
    expect(messageReader(operationMessages.clear.request)(new Uint8Array())).toEqual({
      queue_name: "",
      retry: false,
      scheduled: false,
      queue: false,
      destructive: false,
    });
    expect(messageReader(operationMessages.listQueues.request)(new Uint8Array())).toEqual({
      pivot: "",
      limit: 1_000,
    });
  });

  test("fields may have any order, the last of several counts, and unknown ones are skipped", () => {
    // 3: an item with utf8 "a"; 99: a number, then a text; 1: "x", then "orders"; 2: "1m".
    const bytes = bytesOf(
      "1a03 3201 61 | 9806 2a | 9a06 01 78 | 0a01 78 | 0a06 6f7264657273 | 1202 316d".replaceAll(
        "|",
        "",
      ),
    );
    expect(read(bytes)).toEqual({
      queue_name: "orders",
      request_timeout: "1m",
      items: [{ utf8: "a" }],
    });
  });

  test("a zero that is written is read", () => {
    const update = messageReader(operationMessages.updateQueue.request);
    expect(update(bytesOf("2200 3200 4000 4800"))).toEqual({
      queue_name: "",
      dead_queue: "",
      reference: "",
      lease_timeout: "",
      max_attempts: 0,
      requested_partitions: 0,
    });
    expect(read(bytesOf("1a00 1a02 3200"))).toMatchObject({ items: [{}, { utf8: "" }] });
  });

  test("a field of another type than its own is skipped", () => {
    expect(read(bytesOf("082a"))).toMatchObject({ queue_name: "" });
  });

  test("a negative number takes ten bytes and is read", () => {
    const lease = messageReader(operationMessages.lease.request);
    expect(lease(bytesOf("10 ffffffffffffffffff01"))).toMatchObject({ batch_size: -1 });
    expect(lease(bytesOf("10 80808080f8ffffffff01"))).toMatchObject({ batch_size: -(2 ** 31) });
  });

  test.each([
    ["a text that ends too early", "0a06 6f72"],
    ["a message that ends too early", "1a05 3201 61"],
    ["a field that reaches beyond its message", "1a02 3205 6161616161"],
    ["a text that is not UTF-8", "0a02 c328"],
    ["half of a surrogate pair", "0a03 eda080"],
    ["a number that does not end", "08 ffffffffffffffffffffff"],
    ["a field with the number zero", "0201 61"],
    ["an unknown number of more than ten bytes", "9806 ffffffffffffffffffffff01"],
    ["a message within one that ends before it", "1a03 aa06 05 0a03 616161"],
    ["a group that does not end", "3b 0801"],
    ["an end without a group", "3c"],
    ["an instant that is none", "1a0e 220c 08 ffffffffffffffff7f 1000"],
  ])("%s is refused", (_, hex) => {
    expect(() => read(bytesOf(hex))).toThrow();
  });

  test.each([
    ["of the request", "9b06 0800 9c06"],
    ["of an item", "1a06 9b06 0800 9c06"],
    ["of a header", "1a09 aa06 06 9b06 0800 9c06"],
    ["of an instant", "1a08 2206 9b06 0800 9c06"],
  ])("a group is refused by name: one %s", (_, hex) => {
    expect(() => read(bytesOf(hex))).toThrow("expected no groups, got one in field 99");
  });

  test("groups within groups to any depth are refused, not followed", () => {
    expect(() => read(new Uint8Array(5_000_000).fill(0x3b))).toThrow();
  });

  test.each([
    ["header", 101, "0a00"],
    ["header, unknown ones", 101, "1800"],
    ["instant", 4, "0801"],
    ["instant, unknown ones", 4, "1800"],
  ])("the fields of one %s are bounded", (_, number, field) => {
    const item = (fields: number) => nested(3, nested(number, bytesOf(field.repeat(fields))));
    const max = bodyLimits.leafFieldsMax;
    expect(read(item(max))).toMatchObject({ items: [{}] });
    const refused = `message with too many fields; expected at most ${max}`;
    expect(() => read(item(max + 1))).toThrow(refused);
  });

  test("the fields of headers and instants count among the values of a body", () => {
    for (const field of [`2264${"0801".repeat(50)}`, `aa0664${"0a00".repeat(50)}`]) {
      const item = nested(3, bytesOf(field.repeat(900)));
      const items = Array.from({ length: 25 }, () => item);
      expect(() => read(Buffer.concat(items))).toThrow("too many values");
    }
  });

  test.each([
    ["texts of one item", nested(3, bytesOf("0a00".repeat(500_000)))],
    ["unknown fields of one item", nested(3, bytesOf("9806 00".repeat(300_000)))],
    ["fields of the request", bytesOf("0a00".repeat(500_000))],
  ])("other requests are served while many are read: %s", async (_, bytes) => {
    let isRead = false;
    const reading = piecewiseReader(operationMessages.produce.request)(bytes).finally(() => {
      isRead = true;
    });
    let turns = 0;
    while (!isRead) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await reading).toEqual(read(bytes));
    expect(turns).toBeGreaterThanOrEqual(Math.floor(bytes.length / bodyLimits.pieceBytes));
  });

  test("an instant that was never set is none, finer than a millisecond is rounded up", () => {
    const item = (seconds: number, nanos: number) =>
      new Uint8Array(type.encode({ items: [{ enqueue_at: { seconds, nanos } }] }).finish());
    const read = messageReader(operationMessages.produce.request);
    expect(read(item(-62_135_596_800, 0))).toMatchObject({ items: [{ enqueue_at: null }] });
    expect(read(item(1, 1_999_999))).toMatchObject({
      items: [{ enqueue_at: "1970-01-01T00:00:01.002Z" }],
    });
    expect(read(item(-1, 0))).toMatchObject({
      items: [{ enqueue_at: "1969-12-31T23:59:59.000Z" }],
    });
  });
});

describe("replies", () => {
  test("zeros are not written, an instant that is not set only where one is always expected", () => {
    const { reply } = operationMessages.listItems;
    const [item] = operations.listItems.replies[200].example.items;
    const values = { ...item, lease_deadline: null, dead_deadline: null, enqueue_at: null };
    const bytes = messageWriter(reply)({ items: [values] });
    const none = {
      ...{ headers: {}, origin_id: "", reason: "", death: "", origin_queue: "" },
      ...{ origin_attempts: 0, origin_created_at: null, redriven: 0, own_max_attempts: 0 },
      ...{ own_lease_timeout: "", group: "" },
    };
    const expected = { ...values, ...none, lease_deadline: yearOne };
    expect(decoded(reply, bytes)).toEqual({ items: [expected] });
    const zeros = { code: 0, code_text: "", message: "" };
    expect(messageWriter(replyMessage)(zeros)).toHaveLength(0);
  });

  test("durations are canonical, and a queue is of the system's namespace", () => {
    const { reply } = operationMessages.queueInfo;
    const info = { ...operations.queueInfo.replies[200].example, expire_timeout: "1440m" };
    expect(decoded(reply, messageWriter(reply)(info))).toEqual({
      ...info,
      lease_timeout: "1h0m0s",
      expire_timeout: "24h0m0s",
      priority_aging: "1m0s",
      namespace: "_system",
    });
  });

  test("an error reply has its reasons by id", () => {
    const reply: Reply = {
      code: 453,
      code_text: "Request Failed",
      message: "no",
      reason: "not_leased",
      details: { a: "not leased", b: "" },
    };
    expect(decoded(replyMessage, messageWriter(replyMessage)(reply))).toEqual({ ...reply });
  });
});
