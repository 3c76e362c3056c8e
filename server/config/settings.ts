// The settings of a server: one schema with each setting's default and description, and the names
// of its flag and its environment variable.
//
//   key in the file    flag                environment
//   "produceBodyMax"   --produce-body-max  HOLDFAST_PRODUCE_BODY_MAX

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { parseDuration } from "../../engine/model/duration.ts";
import { limits } from "../../engine/model/limits.ts";
import { queueLabelsMax } from "../observability/queue-metrics.ts";

/** Refuses `URL,URL`: the second URL's password would become part of a host name. */
const databaseUrlPattern = "^postgres(ql)?://(?!.*,postgres(ql)?://)[^\\s\\0]+$";

/** A body is held in memory twice: as bytes and decoded. */
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
      "Database of --store postgres; host,host means the first primary. Clusters may have several.",
    isSpaced: true,
    isSecret: true,
  }),
  databasePooler: choice(["none", "transaction"], {
    default: "none",
    description: "The connection pooler in front of the database; transaction = one in that mode.",
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
  // Longer than usual stalls of a database, and short enough for clients to wait for a takeover.
  ownershipLease: duration({
    ...{ default: "5s", minimum: "1s", maximum: "1m" },
    description: "How long a node keeps ownership of shards without renewing it; from 1s to 1m.",
  }),
  shards: upToShardsMax(
    "as many as the data have; if new, 1, and 16 in a cluster",
    "Stores to which queues are hashed; recorded at the first start, `holdfast reshard` changes it.",
  ),
  threads: upToShardsMax(
    "one per core",
    "Threads that share the shards, at most one each; one with PostgreSQL or a test clock.",
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
    description: "Bytes in the bodies of all requests in progress; further ones get 429.",
  }),
  waitingLeasesMax: wholeNumber({
    minimum: 1,
    maximum: 1_000_000,
    default: limits.waitingLeasesMax,
    description: "Lease requests that may wait at once, in each shard; others get 429.",
  }),
  // Long enough for a client's retries, and short enough to bound the stored receipts.
  receiptsWindow: duration({
    ...{ default: "5m", minimum: "1s", maximum: "24h" },
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
    description: "Requests in progress, waiting leases included; further ones get 429.",
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
    "Time moves only by clock.advance; a data folder is either for tests or for real use.",
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

export interface Setting {
  /** Key in the configuration file. */
  readonly key: string;
  readonly flag: string;
  readonly env: string;
  readonly schema: TSchema;
  /** The valid values, for fault texts. */
  readonly expected: string;
}

export const envPrefix = "HOLDFAST_";

/** The path of the configuration file, which the file itself cannot contain. */
export const configFile = settingOf(
  "config",
  Type.String({
    expected: "a JSON file",
    default: "",
    description:
      "File with settings, as one JSON object; flags and environment variables win over it.",
  }),
);

/** In the order of the schema. */
export const settings: readonly Setting[] = Object.entries(ConfigSchema.properties).map(
  ([key, schema]) => settingOf(key, schema),
);

function settingOf(key: string, schema: TSchema): Setting {
  const words = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    key,
    flag: `--${words}`,
    env: envPrefix + words.replaceAll("-", "_").toUpperCase(),
    schema,
    expected: String(schema["expected"]),
  };
}

/** A row of the documentation's table of settings. */
export interface SettingRow {
  readonly flag: string;
  readonly env: string;
  /** Key in the configuration file; `""` for `--config` itself. */
  readonly key: string;
  readonly default: string;
  /** The valid values. */
  readonly values: string;
  readonly meaning: string;
}

/** Every setting, for usage texts and documentation. */
export function configReference(): readonly SettingRow[] {
  return [configFile, ...settings].map((setting) => {
    const { key, flag, env, expected, schema } = setting;
    return {
      flag,
      env,
      key: setting === configFile ? "" : key,
      default: String(schema["defaultText"] ?? schema.default),
      values: expected,
      meaning: String(schema.description),
    };
  });
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

function upToShardsMax(defaultText: string, description: string) {
  const maximum = limits.shardsMax;
  const expected = `a whole number from 1 to ${maximum}`;
  return Type.Optional(Type.Integer({ minimum: 1, maximum, expected, defaultText, description }));
}

/** In milliseconds. */
function duration(options: Described<string> & { minimum: string; maximum: string }) {
  const { minimum, maximum, default: usual, description } = options;
  return Type.Integer({
    ...{ minimum: msOf(minimum), maximum: msOf(maximum), default: msOf(usual) },
    ...{ description, defaultText: usual, isDuration: true },
    expected: `a duration from ${minimum} to ${maximum}`,
  });
}

function msOf(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.ms;
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

/** `""`: none. To give `""` is a fault, or an unset shell variable would disable a guard. */
function file(expected: string, description: string) {
  return text({ default: "", expected, pattern: "^[^\\0]*$", description });
}

interface List extends Omit<Text, "default"> {
  /** Spaces or line breaks separate the elements, which may contain commas. */
  readonly isSpaced?: boolean;
  /** A value may contain a password. */
  readonly isSecret?: boolean;
}

function list({ pattern, ...options }: List) {
  return Type.Array(Type.String({ pattern }), { ...options, default: [] });
}
