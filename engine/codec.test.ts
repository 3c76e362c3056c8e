import { expect, test } from "bun:test";
import {
  decodeOpened,
  decodeReport,
  decodeRequests,
  encodeOpened,
  encodeReport,
  encodeRequests,
  readLeased,
  renderLeased,
} from "./codec.ts";
import { failure } from "./errors.ts";
import type { NumberedRequest } from "./kinds.ts";
import type { Opened, Report } from "./messages.ts";
import { done } from "./shard/kind.ts";

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
const item = { kind: "k", encoding: "e", reference: '"\u0000ü', headers: "", enqueueAt: null };
const plain = {
  payload: "t",
  kind: "",
  encoding: "",
  reference: "",
  headers: "",
  enqueueAt: null,
  unique: "",
};
const outbound = {
  slot: 1,
  seq: 2,
  createdAt: 3,
  queuedAt: 4,
  expireDeadline: 5,
  early: false,
  attempts: 6,
  kind: "",
  encoding: "",
  reference: "",
  headers: "",
  sourceId: "s",
  past: "",
  payload: bytes,
  outboundSeq: 7,
  targetShard: 8,
  targetSlot: 9,
  targetOwner: 7,
};
const imported = {
  ...item,
  sourceId: "",
  past: "",
  leaseDeadline: 1,
  expireDeadline: null,
  createdAt: null,
  attempts: 2,
};

const requests: NumberedRequest[] = [
  {
    op: 1,
    kind: "produce",
    slot: 0,
    deadline: 9,
    items: [{ ...item, unique: "", payload: "text" }],
  },
  {
    op: 2,
    kind: "produce",
    slot: 0,
    deadline: 9,
    items: [{ ...item, unique: "", payload: bytes }],
  },
  {
    op: 3,
    kind: "produce",
    slot: 0,
    deadline: 9,
    items: [{ ...item, unique: "", payload: new Uint8Array() }],
  },
  { op: 9, kind: "produce", slot: 0, deadline: 9, items: [{ ...plain, unique: "ab" }, plain] },
  { op: 10, kind: "produce", slot: 0, deadline: 9, items: ["text", "", "\ud83d", "\ude00", plain] },
  { op: 4, kind: "import", slot: 0, items: [{ ...imported, payload: bytes }] },
  { op: 5, kind: "receive", sourceShard: 1, items: [outbound] },
  { op: 8, kind: "forward", targetShard: 1, arrived: 7 },
  { op: 6, kind: "complete", slot: 0, deadline: 9, ids: ["a", "b"] },
  {
    op: 7,
    kind: "clear",
    slots: [1, 2],
    what: { ready: true, leased: false, scheduled: false, retried: true },
  },
];

test.each(requests)("requests: $kind, $op, is read as it was written", (request) => {
  expect(decodeRequests(encodeRequests([request]), request.op)).toEqual([request]);
});

test("requests: many in one text, numbered in a row", () => {
  const numbered = requests.map((request, index) => ({ ...request, op: 7 + index }));
  expect(decodeRequests(encodeRequests(requests), 7)).toEqual(numbered);
});

test("requests: a text that looks like packed bytes stays a text", () => {
  const request = {
    ...requests[0],
    items: [{ ...item, unique: "", payload: '{"base64":"AAAA"}' }],
  };
  expect(decodeRequests(encodeRequests([request as NumberedRequest]), 1)).toEqual([
    request as NumberedRequest,
  ]);
});

test("report: leased items travel beside the text and come back in their answers", () => {
  const listed = {
    id: "i",
    createdAt: 1,
    queuedAt: 2,
    expireDeadline: 3,
    attempts: 4,
    kind: "",
    encoding: "",
    reference: "",
    headers: "",
    sourceId: "",
    past: "",
    leasedAt: null,
    leaseDeadline: null,
    dueAt: 5,
    payload: bytes,
  };
  const report: Report = {
    answers: [
      { op: 5, outcome: done },
      { op: 1, outcome: { ok: true, value: { kind: "leased", count: 1, items: "[first]" } } },
      { op: 2, outcome: failure("not_leased", "m", { a: "b" }) },
      { op: 3, outcome: { ok: true, value: { kind: "leased", count: 2, items: "[second]" } } },
      { op: 4, outcome: { ok: true, value: { kind: "items", items: [listed] } } },
      { op: 7, outcome: { ok: true, value: { kind: "done" }, replayed: true } },
      { op: 6, outcome: { ok: true, value: { kind: "outbound", items: [outbound] } } },
    ],
    counts: [
      {
        ...{ slot: 1, ready: 2, leased: 3, scheduled: 4, retried: 5 },
        ...{ oldestReadyAt: 6, nextDueAt: null, nextLapseAt: 7 },
      },
    ],
    events: [
      {
        slot: 1,
        counts: { lapsed: 1, dead: 3, discarded: 4 },
        waited: { counts: [1, 2], sum: 0.5 },
        discardedIds: ["x"],
        lapsedOf: [["worker-9", 1]],
        diedOf: [["no card", 2]],
      },
    ],
    outbox: [{ targetShard: 8, counts: [{ targetShard: 8, targetSlot: 9, count: 1 }] }],
    receipts: 7,
    commit: { items: 1, seconds: 0.5, quarantined: 0, size: null },
    full: false,
    refusing: false,
  };
  const texts = encodeReport(report);
  const [text, ...leased] = texts;
  expect(leased).toEqual(["[first]", "[second]"]);
  expect(text).not.toContain("first");
  expect(decodeReport(texts)).toEqual(report);
});

test("opened: is read as it was written", () => {
  const opened: Opened = {
    tags: "0123456789Ab:0",
    catalog: { version: 3, entries: [] },
    counts: [],
    outbox: [{ targetShard: 8, targetSlot: 9, count: 1 }],
    lostCommits: 3,
    passed: { sent: 4, taken: [[1, 2]], arrived: [] },
    holdings: [{ slot: 1, owner: 2, count: 3 }],
    at: 1,
    opLast: 2,
    refused: [1],
    leaseKeys: [],
    receipts: 7,
    tasks: [],
    quarantined: 0,
    miscounted: 0,
    full: false,
  };
  expect(decodeOpened(encodeOpened(opened))).toEqual(opened);
});

test("leased: payloads are bytes on both sides", () => {
  const items = [
    {
      id: "i",
      kind: "k",
      encoding: "",
      reference: "",
      headers: { h: "ü" },
      past: { origin: "o", death: "failed", redriven: 1 } as const,
      attempts: 1,
      leaseDeadline: 2,
      payload: bytes,
    },
  ];
  expect(readLeased(renderLeased(items))).toEqual(items);
});
