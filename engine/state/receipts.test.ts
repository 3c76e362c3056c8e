import { expect, test } from "bun:test";
import { keyedOperations } from "../model/idempotency-key.ts";
import { seededRandom } from "../simulation/seeded-random.ts";
import { decodeReceipts, encodeReceipts, type KeptReceipt, Receipts } from "./receipts.ts";

function hex(number: number, length: number): string {
  return number.toString(16).padStart(length, "0");
}

test.each([1, 2, 3, 4, 5])(
  "receipts: an added receipt is found and iterated until it is removed, as in a plain list; seed %p",
  (seed) => {
    const random = seededRandom(seed);
    const receipts = new Receipts();
    let plain: KeptReceipt[] = [];
    for (let turn = 1; turn <= 400; turn += 1) {
      for (let count = random.below(seed === 1 ? 3 : 40); count > 0; count -= 1) {
        // Few digests with few prefixes, so that they repeat and collide.
        const digest = hex(random.below(4), 8) + hex(random.below(200), 24);
        const receipt = {
          digest,
          fingerprint: hex(random.below(1_000), 16),
          operation: keyedOperations[random.below(keyedOperations.length)] ?? "produce",
          values:
            random.below(10) === 0
              ? null
              : Array.from({ length: random.below(3) * random.below(200) }, () => random.below(9)),
        };
        receipts.add(receipt, { turn, at: 10 * turn });
        plain.push({ ...receipt, turn, at: 10 * turn });
      }
      if (random.below(5) === 0) {
        const until = 10 * Math.max(0, turn - random.below(60));
        const last = plain.findLast(({ at }) => at <= until)?.turn ?? 0;
        expect(receipts.turnBefore(until, Number.POSITIVE_INFINITY)).toBe(last);
        receipts.forget(last);
        plain = plain.filter((one) => one.turn > last);
      }
      expect(receipts.size).toBe(plain.length);
      expect(receipts.oldestAt).toBe(plain[0]?.at ?? Number.POSITIVE_INFINITY);
      const digest = hex(random.below(4), 8) + hex(random.below(200), 24);
      expect(receipts.find(digest)).toEqual(plain.findLast((one) => one.digest === digest));
    }
    expect([...receipts]).toEqual(plain);
    receipts.forget(Number.MAX_SAFE_INTEGER);
    expect([receipts.size, [...receipts]]).toEqual([0, []]);
  },
);

test("turnBefore: examines at most the given number of receipts", () => {
  const receipts = new Receipts();
  const one = { digest: hex(1, 32), fingerprint: hex(1, 16), operation: "produce" } as const;
  for (let turn = 1; turn <= 9; turn += 1) receipts.add({ ...one, values: [] }, { turn, at: turn });
  expect([receipts.turnBefore(7, 100), receipts.turnBefore(7, 3)]).toEqual([7, 3]);
});

test("encode: decoding returns what was encoded, for every operation and any values", () => {
  const receipts = keyedOperations.flatMap((operation, index) =>
    [null, [], [0], [2 ** 53 - 1, -1, 1.5], Array.from({ length: 2_001 }, (_, at) => at)].map(
      (values) => ({ digest: hex(index + 1, 32), fingerprint: "f".repeat(16), operation, values }),
    ),
  );
  expect(decodeReceipts(encodeReceipts(receipts))).toEqual(receipts);
  // A store may return a part of a larger buffer.
  const bytes = encodeReceipts(receipts);
  const larger = new Uint8Array(bytes.length + 7);
  larger.set(bytes, 3);
  expect(decodeReceipts(larger.subarray(3, 3 + bytes.length))).toEqual(receipts);
});
