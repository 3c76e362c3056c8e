import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { exitCodes } from "../../cli/exit-codes.ts";
import { createClient } from "../../client/client.ts";
import { runServer, type ServerOptions, startServer } from "../../testing/server-process.ts";
import { DataFolderError, openDataFolder } from "./data-folder.ts";

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-folder-"));
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

test("data folder: folders that a failed start created are removed, parents included", () => {
  using files = scratch();
  const made = openDataFolder(join(files.directory, "not/yet/there"));
  writeFileSync(join(files.directory, "not/yet/there/shard-0.db"), "");
  made.remove();
  expect(existsSync(files.directory)).toBe(true);
  expect(existsSync(join(files.directory, "not"))).toBe(false);
});

test.each([
  [1, []],
  [1, ["shard-0.db", "shard-0.db-wal", "shard-0.db-mark"]],
  [3, ["shard-0.db", "shard-1.db", "shard-2.db", "shard-2.db-wal", "other.db"]],
])("data folder: it has %i of the shards' stores, at least one; %j", (shards, names) => {
  using files = scratch();
  for (const name of names) writeFileSync(join(files.directory, name), "");
  expect(openDataFolder(files.directory).shards).toBe(shards);
});

test("data folder: without --shards a server has as many as the folder, and of new data one", async () => {
  using files = scratch();
  const [data, fresh] = [join(files.directory, "data"), join(files.directory, "fresh")];
  const shardsOf = async (options: ServerOptions): Promise<number> => {
    const server = await startServer(options);
    try {
      return (await (await fetch(`http://127.0.0.1:${server.port}/health`)).json()).shards;
    } finally {
      await server.stop();
    }
  };
  expect(await shardsOf({ data, flags: ["--shards", "3"] })).toBe(3);
  expect(await shardsOf({ data })).toBe(3);
  expect(await runServer(["--port", "0", "--data", data, "--shards", "2"])).toEqual({
    code: exitCodes.usage.code,
    output: `the data are in another number of shards; expected --shards 3, got 2; 'holdfast reshard' changes the number; data folder '${data}'\n`,
  });
  expect(await shardsOf({ data, flags: ["--store", "memory"] })).toBe(1);
  expect(await shardsOf({ data: fresh })).toBe(1);
});

test("data folder: an existing folder is kept", () => {
  using files = scratch();
  const data = join(files.directory, "data");
  mkdirSync(data);
  openDataFolder(data).remove();
  expect(existsSync(data)).toBe(true);
});

// Not even root can write to `/proc/sys`.
test.skipIf(process.platform !== "linux")("data folder: a read-only one is called that", () => {
  expect(() => openDataFolder("/proc/sys")).toThrow(
    new DataFolderError("the data folder is read-only for this user"),
  );
});

test("data folder: one that cannot be created is refused with the system's error", () => {
  using files = scratch();
  writeFileSync(join(files.directory, "file"), "");
  const within = () => openDataFolder(join(files.directory, "file/data"));
  expect(within).toThrow("the data folder cannot be created; ENOTDIR");
});

test("data, backups and restored files are readable by their owner only, whatever the umask", async () => {
  using files = scratch();
  const [data, backups, restored] = ["a/data", "b/backups", "c/data"].map((name) =>
    join(files.directory, name),
  ) as [string, string, string];
  const under = ["sh", "-c", 'umask 0; exec "$@"', "sh"];
  const flags = ["--backups", backups, "--shards", "2"];
  const server = await startServer({ data, flags, under });
  try {
    const client = createClient({ url: `http://127.0.0.1:${server.port}` });
    const queue = client.queue("orders");
    await queue.create({ lease_timeout: "1m", expire_timeout: "1h" });
    await queue.produce("a");
    const { folder } = await client.backup();
    expect(modesIn(data)).toContain("600 shard-0.db-wal");
    expect(shared(data)).toEqual([]);
    expect(shared(backups)).toEqual([]);
    const main = join(import.meta.dir, "../../cli/main.ts");
    const restoring = [...under, process.execPath, main, "restore", folder, "--data", restored];
    expect(Bun.spawnSync(restoring, { stderr: "inherit" }).exitCode).toBe(0);
    expect(modesIn(restored)).toContain("600 shard-0.db");
    expect(shared(restored)).toEqual([]);
  } finally {
    await server.stop();
  }
});

/** Lists the files and folders with wrong permissions, including the folder itself. */
function shared(folder: string): string[] {
  return modesIn(folder).filter((text) => !/^(700 .*\/|600 .*[^/])$/.test(text));
}

/** `600 shard-0.db` for each file, `700 folder/` for each folder. */
function modesIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = found.map(({ parentPath, name }) => join(parentPath, name));
  return [folder, ...paths].map((path) => {
    const stat = statSync(path);
    const name = relative(folder, path) || ".";
    return `${(stat.mode & 0o777).toString(8)} ${name}${stat.isDirectory() ? "/" : ""}`;
  });
}
