import { expect, test } from "bun:test";
import { answerType, protobufTypeOf } from "./negotiation.ts";

const protobuf = "application/protobuf";
const other = "application/x-protobuf";

test.each([
  [null, null],
  ["application/json", null],
  [protobuf, protobuf],
  [other, other],
  ["Application/Protobuf; charset=x", protobuf],
  ["application/protobufs", null],
  ["text/plain", null],
])("a Content-Type of %p is protobuf: %p", (given, expected) => {
  expect(protobufTypeOf(given)).toBe(expected);
});

test.each([
  [null, protobuf, protobuf],
  [null, null, null],
  ["*/*", protobuf, protobuf],
  ["*/*", null, null],
  ["application/json", protobuf, null],
  ["application/json", null, null],
  [protobuf, null, protobuf],
  [other, protobuf, other],
  ["text/html,application/xhtml+xml,*/*;q=0.8", protobuf, protobuf],
  ["application/json, text/plain, */*", protobuf, null],
  [`application/json;q=0.5, ${protobuf}`, null, protobuf],
  [`${protobuf};q=0.1, application/json;q=0.9`, protobuf, null],
  [`${protobuf};q=0`, null, null],
  ["APPLICATION/JSON; charset=utf-8", protobuf, null],
  ["text/plain", protobuf, protobuf],
  ["text/plain", null, null],
])("an Accept of %p after a request in %p is answered in %p", (accept, sent, expected) => {
  const headers: HeadersInit = accept === null ? {} : { accept };
  expect(answerType(new Request("http://localhost/", { headers }), sent)).toBe(expected);
});
