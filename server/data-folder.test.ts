import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataFolderError, openDataFolder } from "./data-folder.ts";

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-folder-"));
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

test("data folder: what a start made is taken away again, with all above it that it made", () => {
  using files = scratch();
  const made = openDataFolder(join(files.directory, "not/yet/there"));
  writeFileSync(join(files.directory, "not/yet/there/shard-0.db"), "");
  made.remove();
  expect(existsSync(files.directory)).toBe(true);
  expect(existsSync(join(files.directory, "not"))).toBe(false);
});

test("data folder: what was there stays", () => {
  using files = scratch();
  const data = join(files.directory, "data");
  mkdirSync(data);
  openDataFolder(data).remove();
  expect(existsSync(data)).toBe(true);
});

// There no one may write, the superuser included.
test.skipIf(process.platform !== "linux")("data folder: a read-only one is called that", () => {
  expect(() => openDataFolder("/proc/sys")).toThrow(
    new DataFolderError("the data directory is read-only for this user"),
  );
});

test("data folder: one that cannot be made is told with the system's word", () => {
  using files = scratch();
  writeFileSync(join(files.directory, "file"), "");
  const within = () => openDataFolder(join(files.directory, "file/data"));
  expect(within).toThrow("the data directory cannot be made; ENOTDIR");
});
