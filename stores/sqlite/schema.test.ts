// Migration of invented schemas.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { StoreError } from "../store.ts";
import { migrate, type Schema } from "./schema.ts";

const identity = "CREATE TABLE identity (one INTEGER PRIMARY KEY, tag TEXT, check_sum INTEGER);";
const oldest: Schema = { text: `${identity} CREATE TABLE thing (a)`, upgrades: [] };
const newest: Schema = {
  text: `${identity} CREATE TABLE thing (a, b DEFAULT 2); CREATE INDEX thing_b ON thing (b)`,
  upgrades: [
    "ALTER TABLE thing ADD COLUMN b DEFAULT 2; UPDATE thing SET a = a + 1",
    "CREATE INDEX thing_b ON thing (b); UPDATE thing SET a = a * 10",
  ],
};
const tag = "0123456789Ab";
const newTag = { newTag: () => tag };
const noTag = {
  newTag: (): string => {
    throw new Error("a tag was asked for a file that has one");
  },
};

const read = (database: Database, text: string): unknown => database.query(text).values();
const format = (database: Database): unknown => read(database, "PRAGMA user_version");
const shape = (database: Database): unknown[] =>
  ["table_info(thing)", "index_info(thing_b)", "application_id", "user_version"].map((pragma) =>
    read(database, `PRAGMA ${pragma}`),
  );

function faultOf(work: () => void): unknown {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof StoreError ? error.fault : error;
  }
}

/** A file of the oldest format, with content. */
function oldFile(): Database {
  const database = new Database(":memory:");
  migrate(database, oldest, newTag);
  database.run("INSERT INTO thing VALUES (1), (2)");
  return database;
}

test("migrate: a new file has the newest format at once, the application id and a tag", () => {
  using database = new Database(":memory:");
  migrate(database, newest, newTag);
  expect(format(database)).toEqual([[3]]);
  expect(read(database, "PRAGMA application_id")).toEqual([[0x484f_4c44]]);
  expect(read(database, "SELECT tag FROM identity")).toEqual([[tag]]);
});

test("migrate: an older file takes every step once, and keeps its tag", () => {
  using database = oldFile();
  expect(format(database)).toEqual([[1]]);
  for (let start = 0; start < 2; start += 1) {
    migrate(database, newest, noTag);
    expect(format(database)).toEqual([[3]]);
    expect(read(database, "SELECT a, b FROM thing")).toEqual([
      [20, 2],
      [30, 2],
    ]);
    expect(read(database, "SELECT tag FROM identity")).toEqual([[tag]]);
  }
  using fresh = new Database(":memory:");
  migrate(fresh, newest, newTag);
  expect(shape(database)).toEqual(shape(fresh));
});

test("migrate: a file between two formats takes only the remaining steps", () => {
  using database = oldFile();
  const [step = ""] = newest.upgrades;
  migrate(database, { ...newest, upgrades: [step] }, noTag);
  expect(format(database)).toEqual([[2]]);
  migrate(database, newest, noTag);
  expect(read(database, "SELECT a, b FROM thing")).toEqual([
    [20, 2],
    [30, 2],
  ]);
});

test("migrate: a step that fails leaves no change, and earlier steps stay", () => {
  using database = oldFile();
  const [step = "", last = ""] = newest.upgrades;
  const broken = { ...newest, upgrades: [step, `${last}; INSERT INTO nowhere VALUES (1)`] };
  expect(faultOf(() => migrate(database, broken, noTag))).toBeInstanceOf(Error);
  expect(format(database)).toEqual([[2]]);
  expect(read(database, "SELECT a, b FROM thing")).toEqual([
    [2, 2],
    [3, 2],
  ]);
  expect(read(database, "PRAGMA index_info(thing_b)")).toEqual([]);
  migrate(database, newest, noTag);
  expect(format(database)).toEqual([[3]]);
});

test("migrate: a new file whose schema fails stays new", () => {
  using database = new Database(":memory:");
  const broken = { ...newest, text: `${newest.text}; INSERT INTO nowhere VALUES (1)` };
  expect(faultOf(() => migrate(database, broken, newTag))).toBeInstanceOf(Error);
  expect(read(database, "SELECT name FROM sqlite_schema")).toEqual([]);
  expect(format(database)).toEqual([[0]]);
});

test("migrate: a later format and a file of another program are refused and left alone", () => {
  using later = new Database(":memory:");
  migrate(later, newest, newTag);
  const was = shape(later);
  expect(faultOf(() => migrate(later, oldest, noTag))).toBe("unusable");
  expect(shape(later)).toEqual(was);

  using foreign = new Database(":memory:");
  foreign.run("CREATE TABLE mine (x)");
  expect(faultOf(() => migrate(foreign, newest, noTag))).toBe("unusable");
  expect(read(foreign, "SELECT name FROM sqlite_schema")).toEqual([["mine"]]);
});

test.each([true, false])("migrate: a file of a test clock stays one; %p", (testClock) => {
  using database = new Database(":memory:");
  migrate(database, newest, { ...newTag, testClock });
  const was = shape(database);
  expect(faultOf(() => migrate(database, newest, { ...noTag, testClock: !testClock }))).toBe(
    "unusable",
  );
  expect(shape(database)).toEqual(was);
  for (const either of [testClock, null]) {
    migrate(database, newest, { ...noTag, testClock: either });
    expect(shape(database)).toEqual(was);
  }
});
