import { expect, test } from "bun:test";
import { checkDelivery, Delivery, numberDigits, readNumber, writeNumber } from "./delivery.ts";

function deliver(numbers: readonly number[], produced = 20): Delivery["delivered"] {
  const delivery = new Delivery(produced);
  for (const number of numbers) delivery.see(number);
  return delivery.delivered;
}

const all = Array.from({ length: 20 }, (_, index) => index);
const expected = { items: 20, left: 0, leftFound: 0 };

test("checkDelivery: each item once passes, in any order", () => {
  checkDelivery(deliver(all.toReversed()), expected);
});

test("checkDelivery: an item delivered twice fails", () => {
  expect(() => checkDelivery(deliver([...all, 7]), expected)).toThrow("1 twice");
});

test("checkDelivery: a lost item fails", () => {
  expect(() => checkDelivery(deliver(all.slice(1)), expected)).toThrow("1 missing");
});

test("checkDelivery: a duplicate does not make up for a lost item", () => {
  expect(() => checkDelivery(deliver([...all.slice(1), 7]), expected)).toThrow(
    "1 twice and 0 unknown, 1 missing",
  );
});

test.each([20, -1, Number.NaN])("checkDelivery: %p, which was not produced, fails", (number) => {
  expect(() => checkDelivery(deliver([...all, number]), expected)).toThrow("1 unknown");
});

test("checkDelivery: with a backlog, as many items must be left", () => {
  const delivered = deliver(all.slice(0, 15));
  checkDelivery(delivered, { items: 15, left: 5, leftFound: 5 });
  expect(() => checkDelivery(delivered, { items: 15, left: 5, leftFound: 4 })).toThrow("4 left");
});

test.each([0, 7, 123_456_789, 999_999_999])(
  "readNumber: reads %p from the base64 of what writeNumber wrote",
  (number) => {
    const payload = Buffer.alloc(100, "x");
    writeNumber(payload, 0, number);
    expect(payload.toString("utf8", 0, numberDigits)).toBe(String(number).padStart(9, "0"));
    expect(readNumber(Buffer.from(`..${payload.toString("base64")}`), 2)).toBe(number);
  },
);
