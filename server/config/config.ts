// What an operator can set: one schema with each setting's default and meaning,
// and `readConfig`, which takes a setting from the first of flag, environment,
// file and default that has it, and names every fault at once. Pure: the
// arguments, the environment and the file are handed in.
//
//   key in the file    flag                environment
//   "produceBodyMax"   --produce-body-max  HOLDFAST_PRODUCE_BODY_MAX

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { limits } from "../../engine/model/limits.ts";
import { didYouMean, nearest } from "../../openapi/did-you-mean.ts";
import { bindFaults, isPublic } from "../http/connections/bind-rules.ts";
import { queueLabelsMax } from "../observability/queue-metrics.ts";
import { isClusterVariable } from "./cluster-variables.ts";

/** `URL,URL` is not one; the password of the second would become part of a host's name. */
const databaseUrlPattern = "^postgres(ql)?://(?!.*,postgres(ql)?://)[^\\s\\0]+$";

/** A body is held whole in memory, once as bytes and once decoded. */
const bodyBytesMax = 512_000_000;

export const ConfigSchema = Type.Object({
  port: wholeNumber({
    minimum: 0,
    maximum: 65_535,
    default: 9090,
    description: "Port to listen on; 0 takes any free one.",
  }),
  host: text({
    default: "127.0.0.1",
    expected: "an IP address or host name",
    pattern: "^[A-Za-z0-9._:%-]+$",
    description: "Address to listen on; beyond loopback only with --api-keys-file or --insecure.",
  }),
  apiKeysFile: file(
    "a file of API keys' digests",
    "File with the digests of API keys; every request except probes and pages then needs a key.",
  ),
  insecure: onOff(
    "Listen beyond loopback without API keys: anyone who reaches it can do everything.",
  ),
  tlsCert: file(
    "a file with a certificate in PEM",
    "Certificate in PEM, with its chain; needs --tls-key and turns HTTP into HTTPS.",
  ),
  tlsKey: file(
    "a file with a private key in PEM",
    "Private key of the certificate, in PEM without a password.",
  ),
  data: text({
    default: "./data",
    expected: "a folder",
    pattern: "^[^\\0]+$",
    description: "Folder of the stores, on a local disk; created if missing. One server at a time.",
  }),
  backups: text({
    default: "",
    expected: "a folder",
    pattern: "^[^\\0]*$",
    description: "Folder for backups, each in its own subfolder; without it none can be made.",
  }),
  store: choice(["sqlite", "postgres", "memory"], {
    default: "sqlite",
    description:
      "Where items are kept: in files, in PostgreSQL, or in memory, which is lost at a stop.",
  }),
  databaseUrl: list({
    expected: "a URL such as postgres://user:password@host:5432/name, with spaces between several",
    pattern: databaseUrlPattern,
    description:
      "The database of --store postgres; of host,host the first primary. A cluster may have several.",
    isSpaced: true,
    isSecret: true,
  }),
  databasePooler: choice(["none", "transaction"], {
    default: "none",
    description: "What is between here and the database: transaction = a pooler in that mode.",
  }),
  requireReplica: onOff("Serve only from a database whose commits wait for a synchronous standby."),
  databaseSchema: text({
    default: "holdfast",
    expected: "a lower-case name",
    pattern: "^[a-z][a-z0-9_]{0,40}$",
    description: "Prefix of the schemas in the database, one per shard; created if missing.",
  }),
  name: text({
    default: "",
    expected: "at most 64 characters",
    pattern: "^[^\\u0000-\\u001f\\u007f]{0,64}$",
    description: "Name of the server in its overview; by default that of the machine.",
  }),
  nodeUrl: text({
    default: "",
    expected: "a URL such as http://10.0.0.7:9090",
    pattern: "^(https?://[A-Za-z0-9._:[\\]-]+)?$",
    description:
      "Where other nodes on the same database reach this one; makes the server a node of a cluster.",
  }),
  ownershipLease: text({
    default: "5s",
    expected: "a duration such as 5s",
    pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$",
    description: "How long a silent node keeps its shards; from 1s to 1m.",
  }),
  shards: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.shardsMax,
      expected: `a whole number from 1 to ${limits.shardsMax}`,
      defaultText: "as many as the data have; if new, 1, and 16 in a cluster",
      description:
        "Stores to which queues are hashed; recorded at the first start, `holdfast reshard` changes it.",
    }),
  ),
  threads: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.shardsMax,
      expected: `a whole number from 1 to ${limits.shardsMax}`,
      defaultText: "one per core",
      description:
        "Threads that share the shards, at most one each; one with PostgreSQL or a test clock.",
    }),
  ),
  durability: choice(["full", "normal"], {
    default: "full",
    description: "full survives a power cut; normal is faster and survives a killed process.",
  }),
  logLevel: choice(["fatal", "error", "warn", "info", "debug"], {
    default: "info",
    description: "The least severe events that are logged; debug has each request.",
  }),
  produceBodyMax: bodyBytes(5_000_000, "Bytes in the body of a produce or transact request."),
  importBodyMax: bodyBytes(64_000_000, "Bytes in the body of a storage import request."),
  bodyMax: bodyBytes(256_000, "Bytes in the body of any other request."),
  bodiesMax: wholeNumber({
    minimum: 1_024,
    maximum: 64_000_000_000,
    default: 256 * 1024 * 1024,
    description: "Bytes in the bodies of all requests worked on at once; further ones get 429.",
  }),
  waitingLeasesMax: wholeNumber({
    minimum: 1,
    maximum: 1_000_000,
    default: limits.waitingLeasesMax,
    description: "Lease requests that may wait at once, in each shard; others get 429.",
  }),
  receiptsWindow: text({
    default: "5m",
    expected: "a duration such as 5m",
    pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$",
    description:
      "How long a call with an Idempotency-Key can be repeated; from 1s to 24h. Clients expect 5m.",
  }),
  receiptsMax: wholeNumber({
    minimum: 1,
    maximum: 100_000_000,
    default: limits.receiptsMax,
    description:
      "Calls with an Idempotency-Key remembered, shared out to the shards; others get 429.",
  }),
  connectionsMax: wholeNumber({
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    description: "Requests worked on at once, waiting leases included; further ones get 429.",
  }),
  basePath: text({
    default: "",
    expected: "a path such as /holdfast",
    pattern: "^(/[A-Za-z0-9._~-]+)*$",
    description:
      "Prefix below which API, console, probes and metrics are served too, for a proxy that keeps it.",
  }),
  allowedHosts: list({
    expected: "host names without scheme, port or path",
    pattern: "^((\\*\\.)?[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])$",
    description: "Further names for this server in the Host header; *.example.com takes one label.",
  }),
  allowedOrigins: list({
    expected: "origins such as https://example.com",
    pattern: "^https?://[A-Za-z0-9._:[\\]-]+$",
    description: "Web origins whose pages may call this server; none by default.",
  }),
  acceptWalLoss: onOff(
    "Start even if a store's log is damaged; the log is copied aside, its tail lost.",
  ),
  testClock: onOff(
    "Time moves only by clock.advance, for tests; a data folder is for this or for real use.",
  ),
  metricsQueuesMax: wholeNumber({
    minimum: 0,
    maximum: 10_000,
    default: queueLabelsMax,
    description:
      "How many queues, the busiest, have their own label on /metrics; the others are summed up.",
  }),
  seriesBytes: wholeNumber({
    minimum: 0,
    maximum: 4_000_000_000,
    default: 32 * 1024 * 1024,
    description: "Bytes of memory for the points of server.series; 0 keeps none.",
  }),
  historyBytes: wholeNumber({
    minimum: 0,
    maximum: 4_000_000_000,
    default: 16 * 1024 * 1024,
    description: "Bytes of memory for the recent history of items; 0 keeps none.",
  }),
  shutdownTimeoutMs: wholeNumber({
    minimum: 0,
    maximum: 3_600_000,
    default: 30_000,
    description: "Milliseconds that a stop waits for open requests before it cuts them off.",
  }),
});

export type Config = Readonly<Static<typeof ConfigSchema>>;

/** A configuration with the numbers of shards and threads resolved. */
export type PlacedConfig = Config & { readonly shards: number; readonly threads: number };

export interface ConfigSource {
  /** Arguments after the program's and the command's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws when the file cannot be read. */
  readonly readFile: (path: string) => string;
}

export type ConfigResult =
  | {
      readonly ok: true;
      readonly config: Config;
      /** Variables with our prefix that an orchestrator set for a Service of our name. */
      readonly ignored: readonly string[];
    }
  | { readonly ok: false; readonly faults: readonly string[] };

/** One row of the table of settings. */
export interface SettingRow {
  readonly flag: string;
  readonly env: string;
  /** Key in the configuration file; `""` for `--config` itself. */
  readonly key: string;
  readonly default: string;
  /** What a value has to be. */
  readonly values: string;
  readonly meaning: string;
}

/** A value as it was found, and where, for the fault that may name it. */
interface Given {
  readonly source: string;
  readonly value: unknown;
}

/** From a setting's key, or `config`, to what was given for it. */
type Layer = Map<string, Given>;

const configKey = "config";
const envPrefix = "HOLDFAST_";

const settings = Object.entries(ConfigSchema.properties).map(([key, schema]) => ({
  key,
  schema,
  expected: String(schema["expected"]),
  flag: flagOf(key),
  env: envOf(key),
}));
type Setting = (typeof settings)[number];

const flags = [configKey, ...settings.map((setting) => setting.key)].map(flagOf);
const envs = [configKey, ...settings.map((setting) => setting.key)].map(envOf);

/** Every setting, in the order of the schema, for usage texts and documentation. */
export function configReference(): readonly SettingRow[] {
  const file: SettingRow = {
    flag: flagOf(configKey),
    env: envOf(configKey),
    key: "",
    default: "",
    values: "a JSON file",
    meaning: "File with settings, as one JSON object; flags and environment variables win over it.",
  };
  const rows = settings.map(({ key, flag, env, expected, schema }) => ({
    flag,
    env,
    key,
    default: String(schema["defaultText"] ?? schema.default),
    values: expected,
    meaning: String(schema.description),
  }));
  return [file, ...rows];
}

/** The configuration, or every fault in it. An empty environment variable counts as not set. */
export function readConfig(source: ConfigSource): ConfigResult {
  const faults: string[] = [];
  const fromFlags = readFlags(source.argv, faults);
  const { layer: fromEnv, ignored } = readEnv(source.env, faults);
  const path = fromFlags.get(configKey) ?? fromEnv.get(configKey);
  const fromFile = path === undefined ? new Map() : readConfigFile(path, source.readFile, faults);

  const config: Record<string, unknown> = {};
  for (const setting of settings) {
    const { key, schema } = setting;
    const given = fromFlags.get(key) ?? fromEnv.get(key) ?? fromFile.get(key);
    if (given === undefined) {
      if ("default" in schema) config[key] = Value.Clone(schema.default);
    } else if (Value.Check(schema, given.value) && given.value !== "") {
      config[key] = given.value;
    } else {
      const got = schema["isSecret"] ? shownWithoutPassword(given.value) : shown(given.value);
      faults.push(`${given.source} is invalid; expected ${setting.expected}, got ${got}`);
    }
  }
  if (faults.length > 0) return { ok: false, faults };
  if (!Value.Check(ConfigSchema, config)) {
    throw new Error(`a default breaks its own schema; got ${JSON.stringify(config)}`);
  }
  const between = [...bindFaults(config), ...databaseFaults(config), ...nodeFaults(config)];
  return between.length > 0 ? { ok: false, faults: between } : { ok: true, config, ignored };
}

function databaseFaults(config: Config): readonly string[] {
  const { store, databaseUrl, databasePooler, requireReplica, backups } = config;
  const faults: string[] = [];
  if (store !== "postgres") {
    const expected = `expected --store postgres with it, got ${shown(store)}`;
    if (requireReplica) faults.push(`--require-replica is of a database; ${expected}`);
    if (databasePooler !== "none") faults.push(`--database-pooler is of a database; ${expected}`);
    return faults;
  }
  if (databaseUrl.length === 0) {
    const expected = "expected --database-url with it, such as postgres://user:password@host/name";
    faults.push(`there is no database; ${expected}; 'bun run postgres' starts one for trials`);
  }
  if (backups !== "") {
    const expected = "expected none with --store postgres, which pg_dump copies";
    faults.push(`--backups is of files; ${expected}, got ${shown(backups)}`);
  }
  return [...faults, ...severalDatabasesFaults(config)];
}

function severalDatabasesFaults({ databaseUrl, nodeUrl }: Config): readonly string[] {
  const faults: string[] = [];
  if (databaseUrl.length > 1 && nodeUrl === "") {
    const expected = "expected --node-url with them, or one database";
    faults.push(
      `several databases are of a cluster; ${expected}, got ${databaseUrl.length} of --database-url`,
    );
  }
  const names = databaseUrl.map(databaseName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const expected = "expected each database once";
    faults.push(`--database-url is invalid; ${expected}, got ${shown(twice)} again`);
  }
  return faults;
}

/** Hosts and name of the database at a URL, without user and password. */
export function databaseName(url: string): string {
  return /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^?]*)/.exec(url)?.[1] ?? "";
}

function nodeFaults({ store, nodeUrl, testClock }: Config): readonly string[] {
  if (nodeUrl === "") return [];
  const got = `got ${shown(nodeUrl)}`;
  const faults: string[] = [];
  if (store !== "postgres") {
    faults.push(
      `--node-url is of nodes on one database; expected --store postgres with it, ${got}`,
    );
  }
  if (testClock) {
    faults.push(`--test-clock is of one server; expected none with --node-url, ${got}`);
  }
  const { hostname, protocol } = new URL(nodeUrl);
  if (protocol === "http:" && isPublic(hostname)) {
    const expected = "expected https, a private address or a name";
    faults.push(`--node-url is open to others on its way; ${expected}, ${got}`);
  }
  return faults;
}

function readFlags(argv: readonly string[], faults: string[]): Layer {
  const layer: Layer = new Map();
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (!argument.startsWith("--") || argument === "--") {
      faults.push(`unexpected argument; expected a flag, got ${shown(argument)}`);
      continue;
    }
    let [, flag = "", written] = /^([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
    const setting = settings.find((candidate) => candidate.flag === flag);
    const key = flag === flagOf(configKey) ? configKey : setting?.key;
    if (key === undefined) {
      faults.push(
        `unknown flag; expected one that --help lists, got ${shown(flag)}${didYouMean(flag, flags)}`,
      );
      // What follows an unknown flag is most likely its value, and not a fault of its own.
      if (written === undefined && isValue(rest[0])) rest.shift();
      continue;
    }
    if (written === undefined && setting?.schema.type === "boolean") written = "true";
    else if (written === undefined && isValue(rest[0])) written = rest.shift();
    if (written === undefined) {
      faults.push(`${flag} is invalid; expected ${setting?.expected ?? "a file"}, got nothing`);
      continue;
    }
    const value = setting === undefined ? written : fromText(setting, written);
    const before = layer.get(key)?.value;
    // A list may be given piece by piece; anything else only once, so that none is silently dropped.
    if (Array.isArray(before) && Array.isArray(value)) {
      layer.set(key, { source: flag, value: [...before, ...value] });
    } else if (before === undefined) {
      layer.set(key, { source: flag, value });
    } else {
      const got = `${shown(before)} and ${shown(value)}`;
      faults.push(`${flag} is given twice; expected it once, got ${got}`);
    }
  }
  return layer;
}

function isValue(argument: string | undefined): boolean {
  return argument?.startsWith("--") === false;
}

function readEnv(env: ConfigSource["env"], faults: string[]): { layer: Layer; ignored: string[] } {
  const layer: Layer = new Map();
  const ignored: string[] = [];
  for (const [name, written] of Object.entries(env)) {
    if (!name.startsWith(envPrefix) || !written) continue;
    const setting = settings.find((candidate) => candidate.env === name);
    if (isClusterVariable(name, written)) {
      ignored.push(name);
    } else if (setting !== undefined) {
      layer.set(setting.key, { source: name, value: fromText(setting, written) });
    } else if (name === envOf(configKey)) {
      layer.set(configKey, { source: name, value: written });
    } else if (nearest(name, envs) !== null) {
      // Orchestrators add variables of their own under a service's name, so
      // only what looks like a slip of the pen is refused.
      faults.push(`unknown variable; got ${shown(name)}${didYouMean(name, envs)}`);
    }
  }
  return { layer, ignored };
}

function readConfigFile(path: Given, readFile: ConfigSource["readFile"], faults: string[]): Layer {
  const layer: Layer = new Map();
  const name = String(path.value);
  let content: unknown;
  try {
    content = JSON.parse(readFile(name));
  } catch (error) {
    const got = `${shown(name)}: ${error instanceof Error ? error.message : error}`;
    faults.push(`${path.source} is invalid; expected a JSON file, got ${got}`);
    return layer;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    faults.push(`${name} is invalid; expected one JSON object, got ${shown(content)}`);
    return layer;
  }
  const keys = settings.map((setting) => setting.key);
  for (const [key, value] of Object.entries(content)) {
    if (keys.includes(key)) {
      const setting = settings.find((candidate) => candidate.key === key);
      const isText = setting?.schema["isSpaced"] === true && typeof value === "string";
      const read = isText ? fromText(setting, value) : value;
      layer.set(key, { source: `${key} in ${name}`, value: read });
    } else {
      faults.push(`unknown key in ${name}; got ${shown(key)}${didYouMean(key, keys)}`);
    }
  }
  return layer;
}

/** A flag or variable as the kind of value its setting has; left as text when it is none. */
function fromText(setting: Setting, written: string): unknown {
  switch (setting.schema.type) {
    case "integer":
      return /^\d{1,15}$/.test(written) ? Number(written) : written;
    case "boolean":
      return written === "true" || (written === "false" ? false : written);
    case "array":
      return setting.schema["isSpaced"] === true
        ? written.split(/\s+/).filter((piece) => piece !== "")
        : written.split(",").map((piece) => piece.trim());
    case "string":
    case undefined:
      return written;
  }
}

/** A value as JSON, cut short; a fault has to fit on a line. */
function shown(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length <= 80 ? json : `${json.slice(0, 80)}…`;
}

/** As `shown`; all before a host may be a password. */
function shownWithoutPassword(value: unknown): string {
  const json = JSON.stringify(value);
  const cut = json.replace(/[^"]*@/g, "…@").replace(/(password=)[^&"]*/gi, "$1…");
  return shown(JSON.parse(cut));
}

function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function envOf(key: string): string {
  return envPrefix + key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

interface Described<Value> {
  readonly default: Value;
  readonly description: string;
}

function wholeNumber(options: Described<number> & { minimum: number; maximum: number }) {
  const { minimum, maximum } = options;
  return Type.Integer({ ...options, expected: `a whole number from ${minimum} to ${maximum}` });
}

function bodyBytes(bytes: number, description: string) {
  return wholeNumber({ minimum: 1_024, maximum: bodyBytesMax, default: bytes, description });
}

function choice<const Word extends string>(
  words: readonly Word[],
  options: Described<NoInfer<Word>>,
) {
  const expected = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  const union = Type.Union(words.map((word) => Type.Literal(word)));
  return Type.Unsafe<Word>({ ...union, ...options, expected });
}

interface Text extends Described<string> {
  readonly expected: string;
  readonly pattern: string;
}

function text(options: Text) {
  return Type.String(options);
}

function onOff(description: string) {
  return Type.Boolean({ default: false, expected: "true or false", description });
}

/** `""` = none; to give it is a fault, or a variable that is not set would turn a guard off. */
function file(expected: string, description: string) {
  return text({ default: "", expected, pattern: "^[^\\0]*$", description });
}

interface List extends Omit<Text, "default"> {
  /** Spaces or line breaks are between the pieces of a text, as a piece may have commas. */
  readonly isSpaced?: boolean;
  /** A value may have a password. */
  readonly isSecret?: boolean;
}

function list({ pattern, ...options }: List) {
  return Type.Array(Type.String({ pattern }), { ...options, default: [] });
}
