// A store on a real, full disk.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { diskKinds, SmallDisk, whyNoDisk } from "../../proof/processes/small-disk.ts";
import type { Backend } from "../backend.ts";
import { all, end, item, nothing } from "../conformance/values.ts";
import { readItems } from "../single-reads.ts";
import { type Changes, StoreError } from "../store.ts";
import { namingNoRoom } from "./connect.ts";
import { openSqliteStore, type SqliteOptions } from "./store.ts";

const mebibyte = 1024 * 1024;
const ballastBytes = 2 * mebibyte;

/** A store on its own disk, which can be reopened. */
class Shard {
  readonly disk: SmallDisk;
  readonly #options: SqliteOptions;
  #backend: Backend | null = null;
  #turn = 0;
  #seq = 0;

  constructor(disk: SmallDisk, change: Partial<SqliteOptions> = {}) {
    this.disk = disk;
    mkdirSync(join(disk.path, "data"));
    this.#options = {
      path: join(disk.path, "data", "shard-0.db"),
      durability: "full",
      newTag: () => "0123456789Ab",
      acceptLogLoss: false,
      ballastBytes,
      ...change,
    };
  }

  get backend(): Backend {
    if (this.#backend === null) throw new Error("the store is closed");
    return this.#backend;
  }

  get isFull(): boolean {
    return this.backend.maintenance.size().full;
  }

  bytesOf(suffix: string): number | null {
    const path = this.#options.path + suffix;
    return existsSync(path) ? statSync(path).size : null;
  }

  async open(): Promise<void> {
    this.#backend = await openSqliteStore(this.#options);
  }

  async close(): Promise<void> {
    await this.#backend?.store.close();
    this.#backend = null;
  }

  async #commit(changes: Partial<Changes>): Promise<boolean> {
    const turn = { turn: this.#turn + 1, at: 1, tag: "" };
    try {
      await (await this.backend.store.commit({ ...nothing, ...changes, turn })).synced;
      this.#turn += 1;
      return true;
    } catch (cause) {
      if (cause instanceof StoreError && cause.fault === "full") return false;
      throw cause;
    }
  }

  /** Adds an item; returns whether there was room. */
  async add(payloadBytes: number): Promise<boolean> {
    const payload = new Uint8Array(payloadBytes).fill(this.#seq);
    const isWritten = await this.#commit({ insert: [item(1, this.#seq, { payload })] });
    if (isWritten) this.#seq += 1;
    return isWritten;
  }

  async addUntilFull(payloadBytes: number): Promise<void> {
    while (await this.add(payloadBytes));
  }

  /** Leases and completes items, the only commits of a full store. */
  async finish(count: number): Promise<void> {
    for (const { seq } of (await this.items()).slice(0, count)) {
      const lease = { slot: 1, first: seq, last: seq, leaseDeadline: 9, leasedAt: 1 };
      expect(await this.#commit({ lease: [lease] })).toBe(true);
      const done = { unlease: [lease], remove: [{ slot: 1, seqs: [seq] }] };
      expect(await this.#commit(done)).toBe(true);
    }
  }

  async items() {
    const { store } = this.backend;
    return (await readItems(store, { slot: 1, from: 0, before: end }, all)).found;
  }
}

const disks: SmallDisk[] = [];
function disk(kind: (typeof diskKinds)[number], mebibytes: number): SmallDisk {
  const made = new SmallDisk(kind, mebibytes);
  disks.push(made);
  return made;
}
afterEach(() => {
  for (const one of disks.splice(0)) one[Symbol.dispose]();
});

describe.each([...diskKinds])("%s", (kind) => {
  const skipped = whyNoDisk(kind) !== null;

  test.skipIf(skipped)("commit: on a full disk leases and completes use the reserve", async () => {
    const shard = new Shard(disk(kind, 24));
    await shard.open();
    expect(shard.bytesOf("-ballast")).toBe(ballastBytes);
    for (let index = 0; index < 30; index += 1) await shard.add(100_000);
    shard.disk.fill();
    await shard.addUntilFull(100_000);
    expect(shard.isFull).toBe(true);
    expect(shard.bytesOf("-ballast")).toBeLessThan(ballastBytes);
    // Other programs take the remaining space, and the log is reused repeatedly.
    shard.disk.fill();
    await shard.finish(20);
    await shard.close();
  });

  test.skipIf(skipped)(
    "open: a full disk does not prevent an opening, and the reserve is restored",
    async () => {
      const shard = new Shard(disk(kind, 24));
      await shard.open();
      for (let index = 0; index < 30; index += 1) await shard.add(100_000);
      shard.disk.fill();
      await shard.addUntilFull(100_000);
      const before = (await shard.items()).length;
      await shard.close();
      shard.disk.fill();
      await shard.open();
      expect(await shard.items()).toHaveLength(before);
      expect(shard.isFull).toBe(true);
      await shard.finish(10);
      await shard.close();
    },
  );

  test.skipIf(skipped)(
    "tidy: once there is room, the used part of the reserve is restored",
    async () => {
      const shard = new Shard(disk(kind, 24));
      await shard.open();
      await shard.addUntilFull(200_000);
      shard.disk.fill();
      while (await shard.backend.maintenance.tidy());
      expect(shard.isFull).toBe(true);
      await shard.finish(10);
      shard.disk.free();
      while (await shard.backend.maintenance.tidy());
      expect(shard.isFull).toBe(false);
      await shard.finish(Number.MAX_SAFE_INTEGER);
      while (await shard.backend.maintenance.tidy());
      while (await shard.backend.maintenance.tidy());
      expect(shard.bytesOf("-ballast")).toBe(ballastBytes);
      expect(shard.bytesOf("")).toBeLessThan(2 * mebibyte);
      await shard.close();
      expect(shard.bytesOf("-wal")).toBeNull();
    },
  );

  test.skipIf(skipped)(
    "errors: a failed write, or a file that cannot be created, is reported by the state of the disk",
    () => {
      const full = disk(kind, 8);
      const path = join(full.path, "shard-0.db");
      for (const code of ["SQLITE_IOERR_WRITE", "SQLITE_CANTOPEN"]) {
        const cause = Object.assign(new Error("as SQLite says it"), { code });
        full.free();
        expect(namingNoRoom(cause, path)).toBe(cause);
        full.fill();
        expect(namingNoRoom(cause, path)).toMatchObject({ name: "StoreError", fault: "full" });
      }
      const synced = Object.assign(new Error("unknown"), { code: "SQLITE_IOERR_FSYNC" });
      expect(namingNoRoom(synced, path)).toBe(synced);
      expect(readdirSync(full.path).filter((name) => name.includes("probe"))).toEqual([]);
    },
  );

  test.skipIf(skipped)(
    "tidy: completed items make room for more, even if others fill the disk",
    async () => {
      const shard = new Shard(disk(kind, 24));
      await shard.open();
      shard.disk.fill(6 * mebibyte);
      await shard.addUntilFull(100_000);
      shard.disk.fill();
      await shard.finish(40);
      shard.disk.fill();
      while (await shard.backend.maintenance.tidy());
      expect(shard.isFull).toBe(false);
      expect(await shard.add(100_000)).toBe(true);
      await shard.close();
    },
  );

  test.skipIf(skipped)("relieve, tidy, backup: without room only the copy fails", async () => {
    const shard = new Shard(disk(kind, 24), { ballastBytes: 0 });
    await shard.open();
    while (await shard.add(100_000));
    shard.disk.fill();
    const { maintenance } = shard.backend;
    await maintenance.relieve();
    while (await maintenance.tidy());
    const copy = maintenance.backup(shard.disk.path);
    expect(await copy.catch((cause) => cause.fault)).toBeOneOf([null, "full"]);
    const { length } = await shard.items();
    await shard.close();
    rmSync(join(shard.disk.path, "shard-0.db"), { force: true });
    shard.disk.fill();
    await shard.open();
    expect(await shard.items()).toHaveLength(length);
    await shard.close();
  });
});
