import { expect, test } from "bun:test";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { CutDisk } from "./cut-disk.ts";
import { Expected } from "./expected.ts";
import type { StoreContents } from "./store-contents.ts";
import { readTrace } from "./trace.ts";

const random = seededRandom(1);

function bytes(...values: number[]): Uint8Array {
  return new Uint8Array(values);
}

function hex(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

test("readTrace: writes, syncs, truncations and removals of the folder, with every byte", () => {
  const fd = (path: string) => `7<${hex(path)}>`;
  const trace = [
    `pwrite64(${fd("/data/a.db")}, "\\x00\\x7f\\xff", 3, 4096) = 3`,
    `write(${fd("/data/notes")}, "${hex("hello\n")}", 6) = 6`,
    `fdatasync(${fd("/data/a.db")}) = 0`,
    `ftruncate(${fd("/data/a.db-wal")}, 32) = 0`,
    `unlink("${hex("/data/a.db-wal")}") = 0`,
    `pwrite64(${fd("/elsewhere/a.db")}, "\\x01", 1, 0) = 1`,
    `pwrite64(${fd("/data/a.db")}, "\\x01", 1, 0) = -1 EIO (Input/output error) (INJECTED)`,
    "+++ exited with 0 +++",
  ].join("\n");
  expect(readTrace(Buffer.from(trace), "/data")).toEqual([
    { kind: "write", path: "/data/a.db", at: 4096, bytes: bytes(0, 127, 255) },
    { kind: "append", path: "/data/notes", bytes: new Uint8Array(Buffer.from("hello\n")) },
    { kind: "sync", path: "/data/a.db" },
    { kind: "truncate", path: "/data/a.db-wal", size: 32 },
    { kind: "remove", path: "/data/a.db-wal" },
  ]);
});

test("readTrace: an unknown kind of write to a store is refused", () => {
  const trace = `pwritev(7<${hex("/data/a.db")}>, [{iov_base="\\x00", iov_len=1}], 1, 0) = 1`;
  expect(() => readTrace(Buffer.from(trace), "/data")).toThrow("not understood; pwritev");
});

test("cut: synced data is there; with survival 'none' nothing else is", () => {
  const disk = new CutDisk();
  disk.apply({ kind: "write", path: "a", at: 0, bytes: bytes(1, 2, 3) });
  disk.apply({ kind: "sync", path: "a" });
  disk.apply({ kind: "write", path: "a", at: 1, bytes: bytes(9, 9, 9) });
  expect(disk.unsyncedCount).toBe(1);
  expect(disk.cut(random, "none").get("a")).toEqual(bytes(1, 2, 3));
  expect(disk.cut(random, "all").get("a")).toEqual(bytes(1, 9, 9, 9));
});

test("cut: some sectors of a large write survive, each whole", () => {
  const disk = new CutDisk();
  disk.apply({ kind: "write", path: "a", at: 100, bytes: new Uint8Array(8_192).fill(7) });
  const seen = new Set<string>();
  for (let trial = 0; trial < 200; trial += 1) {
    const found = disk.cut(random, "some").get("a") ?? bytes();
    for (let sector = 0; sector < 16; sector += 1) {
      const part = found.subarray(Math.max(100, 512 * sector), 512 * (sector + 1));
      expect(new Set(part).size).toBeLessThanOrEqual(1);
    }
    seen.add(found.join("").slice(0, 4_000));
  }
  expect(seen.size).toBeGreaterThan(20);
});

test("cut: a removed file may reappear until its folder is synced", () => {
  const disk = new CutDisk();
  disk.apply({ kind: "write", path: "d/a", at: 0, bytes: bytes(1) });
  disk.apply({ kind: "sync", path: "d/a" });
  disk.apply({ kind: "remove", path: "d/a" });
  const found = Array.from({ length: 50 }, () => disk.cut(random, "none").has("d/a"));
  expect(new Set(found)).toEqual(new Set([true, false]));
  disk.apply({ kind: "sync", path: "d" });
  expect(disk.cut(random, "none").has("d/a")).toBe(false);
});

function contents(change: Partial<StoreContents> = {}): StoreContents {
  const sound = { held: new Set<string>(), changed: [], damaged: 0, quarantined: 0, miscounted: 0 };
  return {
    places: new Map([
      [1, ["0:0"]],
      [2, ["0:0"]],
    ]),
    ...sound,
    ...change,
  };
}

function expectedAfter(
  ...verbs: ("produce" | "complete" | "complete called" | "lease")[]
): Expected {
  const expected = new Expected();
  for (const [call, verb] of verbs.entries()) {
    const numbers = verb === "lease" ? [] : [1, 2];
    const [asked = "produce", open] = verb.split(" ") as [
      "produce" | "complete" | "lease",
      string?,
    ];
    expected.take({ kind: "called", call, verb: asked, numbers });
    const held = verb === "lease" ? { held: [{ number: 1, id: "one" }] } : {};
    if (open === undefined) expected.take({ kind: "done", call, ...held });
  }
  return expected;
}

test.each([
  ["all is there", expectedAfter("produce"), contents(), []],
  [
    "an item is missing",
    expectedAfter("produce"),
    contents({ places: new Map([[1, ["0:0"]]]) }),
    ["I1: an acknowledged item is lost; item 2; r"],
  ],
  [
    "an item is in two places",
    expectedAfter("produce"),
    contents({
      places: new Map([
        [1, ["0:0", "1:0"]],
        [2, ["0:0"]],
      ]),
    }),
    ["I1: an item is in two places; item 1, 0:0,1:0; r"],
  ],
  [
    "completed items are back",
    expectedAfter("produce", "complete"),
    contents(),
    ["I3: a completed item is back; item 1; r", "I3: a completed item is back; item 2; r"],
  ],
  [
    "in doubt, all are gone",
    expectedAfter("produce", "complete called"),
    contents({ places: new Map() }),
    [],
  ],
  [
    "in doubt, half are gone",
    expectedAfter("produce", "complete called"),
    contents({ places: new Map([[1, ["0:0"]]]) }),
    ["I7: half of a complete; items 1,2, 1 are there; r"],
  ],
  [
    "an item has changed",
    expectedAfter("produce"),
    contents({ changed: [2] }),
    ["I10: an item has changed; item 2; r"],
  ],
  [
    "a lease is lost",
    expectedAfter("produce", "lease"),
    contents(),
    ["I2: a lease is lost; item 1, id one; r"],
  ],
  ["a lease is kept", expectedAfter("produce", "lease"), contents({ held: new Set(["one"]) }), []],
] as const)("Expected: %s", (_name, expected, found, faults) => {
  expect(expected.check(found).list("r")).toEqual([...faults]);
});
