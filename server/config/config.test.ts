import { expect, test } from "bun:test";
import { type ConfigSource, readConfig } from "./config.ts";
import { configReference } from "./settings.ts";

/** Reads the configuration from the test's sources alone. */
function read(given: Partial<ConfigSource> & { file?: string }) {
  const { file, ...source } = given;
  return readConfig({
    argv: [],
    env: {},
    readFile: () => {
      if (file === undefined) {
        throw new Error("no such file");
      }
      return file;
    },
    ...source,
  });
}

function faultsOf(given: Parameters<typeof read>[0]): readonly string[] {
  const result = read(given);
  return result.ok ? [] : result.faults;
}

test("readConfig: with nothing given, every setting has its default", () => {
  expect(read({})).toEqual({
    ok: true,
    ignored: [],
    config: {
      port: 9090,
      host: "127.0.0.1",
      apiKeysFile: "",
      insecure: false,
      tlsCert: "",
      tlsKey: "",
      data: "./data",
      backups: "",
      store: "sqlite",
      databaseUrl: [],
      databaseSchema: "holdfast",
      databasePooler: "none",
      requireReplica: false,
      name: "",
      nodeUrl: "",
      ownershipLease: 5_000,
      durability: "full",
      logLevel: "info",
      produceBodyMax: 5_000_000,
      importBodyMax: 64_000_000,
      bodyMax: 256_000,
      bodiesMax: 268_435_456,
      waitingLeasesMax: 10_000,
      receiptsWindow: 300_000,
      receiptsMax: 2_000_000,
      connectionsMax: 10_000,
      basePath: "",
      allowedHosts: [],
      allowedOrigins: [],
      acceptWalLoss: false,
      testClock: false,
      metricsQueuesMax: 200,
      seriesBytes: 33_554_432,
      historyBytes: 16_777_216,
      shutdownTimeoutMs: 30_000,
    },
  });
});

test("readConfig: a store in PostgreSQL needs a database", () => {
  expect(faultsOf({ argv: ["--store", "postgres"] })).toEqual([
    expect.stringContaining("expected --database-url, such as"),
  ]);
  const url = "postgres://user:word@db.example:5432/holdfast";
  expect(read({ argv: ["--store", "postgres", "--database-url", url] })).toMatchObject({
    ok: true,
    config: { store: "postgres", databaseUrl: [url] },
  });
  expect(faultsOf({ argv: ["--require-replica", "--database-pooler", "transaction"] })).toEqual([
    '--require-replica needs a database; expected --store postgres, got "sqlite"',
    '--database-pooler needs a database; expected --store postgres, got "sqlite"',
  ]);
  expect(
    faultsOf({ argv: ["--store", "postgres", "--database-url", url, "--backups", "b"] }),
  ).toEqual([expect.stringContaining("--backups does not apply to a database")]);
  expect(faultsOf({ argv: ["--database-url", "db.example"] })).toEqual([
    expect.stringContaining("--database-url is invalid; expected a URL such as"),
  ]);
});

test("readConfig: several databases are given by flags, or as one text with spaces or lines", () => {
  const urls = ["postgres://a:word@one,two:5433/name", "postgres://b:word@three/name"];
  const node = ["--store", "postgres", "--node-url", "http://10.0.0.7:9090"];
  const databasesOf = (source: Parameters<typeof read>[0]) => {
    const result = read({ ...source, argv: [...node, ...(source.argv ?? [])] });
    return result.ok ? result.config.databaseUrl : result.faults;
  };
  expect(databasesOf({ argv: urls.flatMap((url) => ["--database-url", url]) })).toEqual(urls);
  for (const text of [urls.join(" "), `\n${urls.join("\n")}\n`]) {
    expect(databasesOf({ argv: ["--database-url", text] })).toEqual(urls);
    expect(databasesOf({ env: { HOLDFAST_DATABASE_URL: text } })).toEqual(urls);
  }
  for (const databaseUrl of [urls, urls.join(" ")]) {
    const file = JSON.stringify({ databaseUrl });
    expect(databasesOf({ argv: ["--config", "x.json"], file })).toEqual(urls);
  }
});

test("readConfig: several databases need a node, and each is given once", () => {
  const given = (...urls: string[]) => urls.flatMap((url) => ["--database-url", url]);
  const [one, two] = ["postgres://a:word@one/name", "postgres://b:word@two/name"];
  const store = ["--store", "postgres"];
  expect(faultsOf({ argv: [...store, ...given(one, two)] })).toEqual([
    "only a cluster has several databases; expected --node-url, or one database, got 2 of --database-url",
  ]);
  const node = [...store, "--node-url", "http://10.0.0.7:9090"];
  expect(faultsOf({ argv: [...node, ...given(one, "postgresql://c:other@one/name")] })).toEqual([
    '--database-url is invalid; expected each database once, got "one/name" again',
  ]);
});

test("readConfig: the fault of a database does not contain its password", () => {
  const expected =
    "--database-url is invalid; expected a URL such as postgres://user:password@host:5432/name, with spaces between several";
  for (const [url, got] of [
    ["postgres://a:wo@rd@one/name,postgres://b:word@two/name", "…@two/name"],
    ["mysql://a:word@one/name", "…@one/name"],
    ["one/name?user=a&password=word&x=1", "one/name?user=a&password=…&x=1"],
  ]) {
    expect(faultsOf({ argv: [`--database-url=${url}`] })).toEqual([`${expected}, got ["${got}"]`]);
  }
});

test("readConfig: flags come before the environment, the environment before the file", () => {
  const result = read({
    argv: ["--config", "holdfast.json", "--port", "1", "--accept-wal-loss", "--insecure"],
    env: { HOLDFAST_PORT: "2", HOLDFAST_HOST: "two.example", HOLDFAST_SHARDS: "" },
    file: '{"port": 3, "host": "three.example", "shards": 3, "allowedHosts": ["a.example"]}',
  });
  expect(result).toMatchObject({
    ok: true,
    config: {
      port: 1,
      host: "two.example",
      shards: 3,
      allowedHosts: ["a.example"],
      acceptWalLoss: true,
    },
  });
});

test("readConfig: the file may be named by the environment", () => {
  const paths: string[] = [];
  const readFile = (path: string) => {
    paths.push(path);
    return '{"port": 3}';
  };
  expect(read({ env: { HOLDFAST_CONFIG: "/etc/holdfast.json" }, readFile })).toMatchObject({
    config: { port: 3 },
  });
  expect(paths).toEqual(["/etc/holdfast.json"]);
});

test("readConfig: a list is given piece by piece, with commas, or both", () => {
  const argv = ["--allowed-hosts", "a.example, [::1]", "--allowed-hosts=b.example"];
  expect(read({ argv })).toMatchObject({
    config: { allowedHosts: ["a.example", "[::1]", "b.example"] },
  });
});

test("readConfig: variables that Kubernetes sets for a Service named holdfast are ignored", () => {
  const env = {
    HOLDFAST_PORT: "tcp://10.0.0.1:9090",
    HOLDFAST_SERVICE_HOST: "10.0.0.1",
    HOLDFAST_SERVICE_PORT: "9090",
    HOLDFAST_SERVICE_PORT_HTTP: "9090",
    HOLDFAST_PORT_9090_TCP: "tcp://10.0.0.1:9090",
    HOLDFAST_PORT_9090_TCP_PROTO: "tcp",
    HOLDFAST_PORT_9090_TCP_PORT: "9090",
    HOLDFAST_PORT_9090_TCP_ADDR: "10.0.0.1",
  };
  const ignored = Object.keys(env);
  expect(read({ env })).toMatchObject({ ok: true, config: { port: 9090 }, ignored });
  const given = { env: { ...env, HOLDFAST_PORT: "udp://[fd00::1]:9090", HOLDFAST_SHARDS: "3" } };
  const config = { port: 1, shards: 3 };
  expect(read({ ...given, argv: ["--port=1"] })).toMatchObject({ ok: true, config, ignored });
});

test.each(["tcp://10.0.0.1", "http://10.0.0.1:9090", "10.0.0.1:9090"])(
  "readConfig: HOLDFAST_PORT=%s is not a Service variable, and is refused",
  (port) => {
    expect(faultsOf({ env: { HOLDFAST_PORT: port } })).toHaveLength(1);
  },
);

test("readConfig: all faults of all sources are reported at once", () => {
  const given = {
    argv: ["--prot", "1", "--config", "x.json", "--port=abc", "foo", "--store", "disk", "--data"],
    env: { HOLDFAST_LOG_LEVEL: "loud", HOLDFAST_PROT: "1", HOLDFAST_SERVICE_PORT: "2" },
    file: '{"Shards": 2, "durability": "none"}',
  };
  expect(faultsOf(given)).toEqual([
    'unknown flag; expected one that --help lists, got "--prot" (did you mean --port?)',
    'unexpected argument; expected a flag, got "foo"',
    "--data is invalid; expected a folder, got nothing",
    'unknown variable; got "HOLDFAST_PROT" (did you mean HOLDFAST_PORT?)',
    'unknown key in x.json; got "Shards" (did you mean shards?)',
    '--port is invalid; expected a whole number from 0 to 65535, got "abc"',
    '--store is invalid; expected sqlite, postgres or memory, got "disk"',
    'durability in x.json is invalid; expected full or normal, got "none"',
    'HOLDFAST_LOG_LEVEL is invalid; expected fatal, error, warn, info or debug, got "loud"',
  ]);
});

test.each([
  ["--port", "65536", "65536"],
  ["--port", "-1", '"-1"'],
  ["--port", "1.5", '"1.5"'],
  ["--port", "0x10", '"0x10"'],
  ["--port", "", '""'],
  ["--port", "9".repeat(99), `"${"9".repeat(79)}…`],
  ["--shards", "0", "0"],
  ["--shards", "65", "65"],
  ["--body-max", "1023", "1023"],
  ["--host", "http://a", '"http://a"'],
  ["--data", "", '""'],
  ["--accept-wal-loss", "yes", '"yes"'],
  ["--allowed-hosts", "a.example:9090", '["a.example:9090"]'],
  ["--allowed-hosts", "a.example,", '["a.example",""]'],
  ["--allowed-hosts", "*", '["*"]'],
  ["--allowed-hosts", "*.*.example", '["*.*.example"]'],
  ["--allowed-hosts", "a*.example", '["a*.example"]'],
  ["--allowed-origins", "https://a.example/", '["https://a.example/"]'],
  ["--allowed-origins", "a.example", '["a.example"]'],
  ["--receipts-window", "500ms", '"500ms"'],
  ["--receipts-window", "300000", '"300000"'],
  ["--ownership-lease", "2m", '"2m"'],
])("readConfig: %s=%s is refused", (flag, value, got) => {
  const faults = faultsOf({ argv: [`${flag}=${value}`] });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toStartWith(`${flag} is invalid; expected `);
  expect(faults[0]).toEndWith(`, got ${got}`);
});

test.each([
  ["--port", "0", { port: 0 }],
  ["--port", "65535", { port: 65_535 }],
  ["--shards", "64", { shards: 64 }],
  ["--accept-wal-loss", "false", { acceptWalLoss: false }],
  ["--receipts-window", "1d", { receiptsWindow: 86_400_000 }],
  ["--ownership-lease", "0.0005d", { ownershipLease: 43_200 }],
  ["--allowed-hosts", "*.a.example", { allowedHosts: ["*.a.example"] }],
  ["--allowed-origins", "http://localhost:3000", { allowedOrigins: ["http://localhost:3000"] }],
])("readConfig: %s=%s is accepted", (flag, value, config) => {
  expect(read({ argv: [`${flag}=${value}`] })).toMatchObject({ ok: true, config });
});

test("readConfig: a flag given twice is a fault, not a silent choice", () => {
  expect(faultsOf({ argv: ["--host", "a", "--host", "b"] })).toEqual([
    '--host is given twice; expected it once, got "a" and "b"',
  ]);
});

test("readConfig: a host beyond loopback needs keys or --insecure; TLS needs two files", () => {
  const host = "--host=0.0.0.0";
  expect(faultsOf({ argv: [host, "--tls-cert=c"] })).toEqual([
    expect.stringContaining("host is reachable from other machines; "),
    expect.stringContaining("TLS is incomplete; "),
  ]);
  expect(read({ argv: [host, "--api-keys-file=keys"] })).toMatchObject({ ok: true });
  expect(read({ argv: [host], env: { HOLDFAST_INSECURE: "true" } })).toMatchObject({ ok: true });
  expect(faultsOf({ env: { HOLDFAST_HOST: "0.0.0.0" } })).toHaveLength(1);
  expect(faultsOf({ argv: ["--config=x"], file: '{"host": "::"}' })).toHaveLength(1);
});

test("readConfig: an empty file name does not disable a guard", () => {
  expect(faultsOf({ argv: ["--api-keys-file="] })).toEqual([
    '--api-keys-file is invalid; expected a file of API keys\' digests, got ""',
  ]);
  expect(faultsOf({ argv: ["--config=x"], file: '{"tlsKey": ""}' })).toHaveLength(1);
});

test("readConfig: a flag does not take the next flag for its value", () => {
  expect(faultsOf({ argv: ["--data", "--port", "1"] })).toEqual([
    "--data is invalid; expected a folder, got nothing",
  ]);
});

test("readConfig: a value in the file has its own type, not a text that looks like it", () => {
  expect(faultsOf({ argv: ["--config=x.json"], file: '{"port": "1"}' })).toEqual([
    'port in x.json is invalid; expected a whole number from 0 to 65535, got "1"',
  ]);
  expect(faultsOf({ argv: ["--config=x.json"], file: '{"receiptsWindow": 300000}' })).toEqual([
    'receiptsWindow in x.json is invalid; expected a duration from 1s to 24h, got "300000"',
  ]);
  expect(faultsOf({ argv: ["--config=x.json"], file: '{"receiptsWindow": ["5m"]}' })).toEqual([
    'receiptsWindow in x.json is invalid; expected a duration from 1s to 24h, got ["5m"]',
  ]);
  expect(read({ argv: ["--config=x.json"], file: '{"receiptsWindow": "1m"}' })).toMatchObject({
    config: { receiptsWindow: 60_000 },
  });
});

test.each([
  [undefined, '--config is invalid; expected a JSON file, got "x.json": no such file'],
  ["[]", "x.json is invalid; expected one JSON object, got []"],
  ["null", "x.json is invalid; expected one JSON object, got null"],
])("readConfig: the file %p is refused", (file, fault) => {
  expect(
    faultsOf({ argv: ["--config", "x.json"], ...(file === undefined ? {} : { file }) }),
  ).toEqual([fault]);
});

test("readConfig: a file that is not JSON is refused with the parser's message", () => {
  const [fault] = faultsOf({ argv: ["--config", "x.json"], file: "port: 1" });
  expect(fault).toStartWith('--config is invalid; expected a JSON file, got "x.json": JSON Parse');
});

test("readConfig: two configurations do not share a list", () => {
  const [one, two] = [read({}), read({})];
  expect(one.ok && two.ok && one.config.allowedHosts !== two.config.allowedHosts).toBe(true);
});

test("configReference: a row has the flag, variable and key of a setting", () => {
  expect(configReference()).toContainEqual({
    flag: "--produce-body-max",
    env: "HOLDFAST_PRODUCE_BODY_MAX",
    key: "produceBodyMax",
    default: "5000000",
    values: "a whole number from 1024 to 512000000",
    meaning: "Bytes in the body of a produce or transact request.",
  });
});

test("configReference: each row's flag, variable and key are understood, and it has a meaning", () => {
  for (const row of configReference().filter(({ key }) => key !== "")) {
    const asFlag = faultsOf({ argv: [`${row.flag}=\0`] });
    const asVariable = faultsOf({ env: { [row.env]: "\0" } });
    const asKey = faultsOf({ argv: ["--config=x"], file: JSON.stringify({ [row.key]: {} }) });
    expect([...asFlag, ...asVariable, ...asKey].map((fault) => fault.split(",")[0])).toEqual([
      expect.stringContaining(`${row.flag} is invalid; expected `),
      expect.stringContaining(`${row.env} is invalid; expected `),
      expect.stringContaining(`${row.key} in x is invalid; expected `),
    ]);
    expect(row.meaning).toEndWith(".");
  }
});
