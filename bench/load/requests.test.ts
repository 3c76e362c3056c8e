import { expect, test } from "bun:test";
import { LeaseReader } from "./lease-reader.ts";
import { CompleteBytes, LeaseBytes, ProduceBytes } from "./requests.ts";

const address = { port: 9090, queue: "bench" };

/** The body, after checking the length in the head. */
function bodyOf(request: Uint8Array): unknown {
  const [head = "", body = ""] = Buffer.from(request).toString().split("\r\n\r\n");
  expect(Number(/Content-Length: *(\d+)/.exec(head)?.[1])).toBe(body.length);
  return JSON.parse(body);
}

function idOf(number: number): string {
  return `1aB${String(number).padStart(24, "0")}`;
}

function leaseReply(items: readonly { number: number; reference?: string }[]): Buffer {
  const body = JSON.stringify({
    queue_name: "bench",
    partition: 1_024,
    items: items.map(({ number, reference = "" }) => ({
      id: idOf(number),
      encoding: "",
      kind: "",
      reference,
      attempts: 1,
      lease_deadline: "2026-01-01T00:00:00.000Z",
      bytes: Buffer.from(String(number).padStart(9, "0").padEnd(100, "x")).toString("base64"),
    })),
  });
  return Buffer.from(body);
}

function read(reader: LeaseReader, bytes: Buffer): { numbers: number[]; ids: string[] } {
  reader.read({ status: 200, bytes, start: 0, end: bytes.length });
  const range = Array.from({ length: reader.count }, (_, index) => index);
  return {
    numbers: range.map((index) => reader.numbers[index] ?? -1),
    ids: range.map((index) => {
      const at = reader.idAt[index] ?? 0;
      return bytes.toString("latin1", at, at + 27);
    }),
  };
}

test("ProduceBytes: items are numbered anew with every call", () => {
  const bytes = new ProduceBytes(address, { itemsPerCall: 3 });
  const payload = (number: number) => ({ utf8: String(number).padStart(9, "0").padEnd(100, "x") });
  for (const first of [0, 999_999, 3]) {
    expect(bodyOf(bytes.numbered(first))).toEqual({
      queue_name: "bench",
      request_timeout: "1m",
      items: [payload(first), payload(first + 1), payload(first + 2)],
    });
  }
});

test("ProduceBytes: the items of a call have one priority, and calls have all in turn", () => {
  const bytes = new ProduceBytes(address, { itemsPerCall: 2, prioritized: true });
  const utf8 = (number: number) => String(number).padStart(9, "0").padEnd(100, "x");
  for (const [first, priority] of [
    [0, 0],
    [2, 1],
    [18, 9],
    [20, 0],
  ] as const) {
    expect(bodyOf(bytes.numbered(first))).toMatchObject({
      items: [
        { utf8: utf8(first), priority },
        { utf8: utf8(first + 1), priority },
      ],
    });
  }
});

test("ProduceBytes: items have all groups in turn", () => {
  const bytes = new ProduceBytes(address, { itemsPerCall: 3, prioritized: true, groups: 2 });
  const item = (number: number, group: number) => ({
    utf8: String(number).padStart(9, "0").padEnd(100, "x"),
    priority: (number - (number % 3)) / 3,
    group: String(group).padStart(9, "0"),
  });
  expect(bodyOf(bytes.numbered(3))).toMatchObject({ items: [item(3, 1), item(4, 0), item(5, 1)] });
  expect(bodyOf(bytes.numbered(0))).toMatchObject({ items: [item(0, 0), item(1, 1), item(2, 0)] });
});

test("LeaseBytes: a smaller number overwrites all digits of a larger one", () => {
  const bytes = new LeaseBytes(address, { clientId: "client-1", requestTimeout: "2s" });
  for (const batchSize of [1_000, 7, 0, 64]) {
    expect(bodyOf(bytes.of(batchSize))).toEqual({
      queue_name: "bench",
      client_id: "client-1",
      request_timeout: "2s",
      batch_size: batchSize,
    });
  }
});

test("LeaseBytes: takes runs of serial groups", () => {
  const client = { clientId: "client-1", requestTimeout: "2s", groupRuns: true };
  expect(bodyOf(new LeaseBytes(address, client).of(100))).toMatchObject({
    batch_size: 100,
    group_runs: true,
  });
});

test("CompleteBytes: copies ids, also fewer after more", () => {
  const bytes = new CompleteBytes(address, 3);
  for (const count of [3, 1, 2, 3]) {
    const ids = Array.from({ length: count }, (_, index) => idOf(index));
    bytes.begin(1_024 + count);
    for (const id of ids) bytes.add(Buffer.from(`--${id}`), 2);
    expect(bodyOf(bytes.end())).toEqual({
      queue_name: "bench",
      request_timeout: "1m",
      partition: 1_024 + count,
      ids,
    });
  }
});

test("LeaseReader: finds ids and numbers, also if an item is longer than the one before", () => {
  const reader = new LeaseReader(10);
  const replies = [
    [{ number: 5 }, { number: 6 }, { number: 7 }],
    [{ number: 8 }],
    [{ number: 9 }, { number: 10, reference: "longer" }, { number: 11 }, { number: 12 }],
    [],
  ];
  for (const items of replies) {
    const numbers = items.map(({ number }) => number);
    expect(read(reader, leaseReply(items))).toEqual({ numbers, ids: numbers.map(idOf) });
    expect(reader.partition).toBe(1_024);
  }
});

test("LeaseReader: does not read past the end of the reply", () => {
  const reader = new LeaseReader(10);
  const bytes = leaseReply([{ number: 1 }]);
  const stale = Buffer.concat([bytes, leaseReply([{ number: 2 }])]);
  reader.read({ status: 200, bytes: stale, start: 0, end: bytes.length });
  expect(reader.count).toBe(1);
});
