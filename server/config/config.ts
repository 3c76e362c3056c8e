// Reads the configuration: each setting comes from the first of flag, environment, file and default
// that has it. All faults are reported at once. Pure: arguments, environment and file are
// parameters.

import { Value } from "@sinclair/typebox/value";
import { parseDuration } from "../../engine/model/duration.ts";
import { didYouMean } from "../../openapi/did-you-mean.ts";
import { bindFaults } from "../http/connections/bind-rules.ts";
import { databaseFaults, nodeFaults } from "./cluster-rules.ts";
import { formatSecret, formatValue } from "./format-value.ts";
import { isKubernetesVariable } from "./kubernetes-variables.ts";
import {
  type Config,
  ConfigSchema,
  configFile,
  envPrefix,
  type Setting,
  settings,
} from "./settings.ts";

export interface ConfigSource {
  /** The arguments without the names of program and command. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
}

export type ConfigResult =
  | {
      readonly ok: true;
      readonly config: Config;
      /** Variables with our prefix that an orchestrator set for a Service called `holdfast`. */
      readonly ignored: readonly string[];
    }
  | { readonly ok: false; readonly faults: readonly string[] };

/** A value before validation, and its source for fault texts. */
interface GivenValue {
  readonly source: string;
  readonly value: unknown;
}

type Layer = Map<Setting, GivenValue>;

const all = [configFile, ...settings];
const byFlag = new Map(all.map((setting) => [setting.flag, setting]));
const byEnv = new Map(all.map((setting) => [setting.env, setting]));
const byKey = new Map(settings.map((setting) => [setting.key, setting]));

/** Returns the configuration or all its faults. An empty environment variable counts as not set. */
export function readConfig(source: ConfigSource): ConfigResult {
  const faults: string[] = [];
  const fromFlags = readFlags(source.argv, faults);
  const { layer: fromEnv, ignored } = readEnv(source.env, faults);
  const path = fromFlags.get(configFile) ?? fromEnv.get(configFile);
  const fromFile =
    path === undefined
      ? new Map<Setting, GivenValue>()
      : readConfigFile(path, source.readFile, faults);

  const config: Record<string, unknown> = {};
  for (const setting of settings) {
    const { key, schema } = setting;
    const given = fromFlags.get(setting) ?? fromEnv.get(setting) ?? fromFile.get(setting);
    if (given === undefined) {
      if ("default" in schema) config[key] = Value.Clone(schema.default);
    } else if (Value.Check(schema, given.value) && given.value !== "") {
      config[key] = given.value;
    } else {
      const got = schema["isSecret"] ? formatSecret(given.value) : formatValue(given.value);
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

function readFlags(argv: readonly string[], faults: string[]): Layer {
  const layer: Layer = new Map();
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (!argument.startsWith("--") || argument === "--") {
      faults.push(`unexpected argument; expected a flag, got ${formatValue(argument)}`);
      continue;
    }
    let [, flag = "", written] = /^([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
    const setting = byFlag.get(flag);
    if (setting === undefined) {
      const got = `${formatValue(flag)}${didYouMean(flag, [...byFlag.keys()])}`;
      faults.push(`unknown flag; expected one that --help lists, got ${got}`);
      // The next argument is most likely the flag's value, and not a fault of its own.
      if (written === undefined && isValue(rest[0])) rest.shift();
      continue;
    }
    if (written === undefined && setting.schema["type"] === "boolean") written = "true";
    else if (written === undefined && isValue(rest[0])) written = rest.shift();
    if (written === undefined) {
      faults.push(`${flag} is invalid; expected ${setting.expected}, got nothing`);
      continue;
    }
    const value = fromText(setting, written);
    const before = layer.get(setting)?.value;
    // Only a list may be given repeatedly; for other settings, a value would be silently dropped.
    if (Array.isArray(before) && Array.isArray(value)) {
      layer.set(setting, { source: flag, value: [...before, ...value] });
    } else if (before === undefined) {
      layer.set(setting, { source: flag, value });
    } else {
      const got = `${formatValue(before)} and ${formatValue(value)}`;
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
    const setting = byEnv.get(name);
    if (isKubernetesVariable(name, written)) {
      ignored.push(name);
    } else if (setting !== undefined) {
      layer.set(setting, { source: name, value: fromText(setting, written) });
    } else {
      // Orchestrators add variables under a service's name, so only likely typos are refused.
      const meant = didYouMean(name, [...byEnv.keys()]);
      if (meant !== "") faults.push(`unknown variable; got ${formatValue(name)}${meant}`);
    }
  }
  return { layer, ignored };
}

function readConfigFile(
  path: GivenValue,
  readFile: ConfigSource["readFile"],
  faults: string[],
): Layer {
  const layer: Layer = new Map();
  const name = String(path.value);
  let content: unknown;
  try {
    content = JSON.parse(readFile(name));
  } catch (error) {
    const got = `${formatValue(name)}: ${error instanceof Error ? error.message : error}`;
    faults.push(`${path.source} is invalid; expected a JSON file, got ${got}`);
    return layer;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    faults.push(`${name} is invalid; expected one JSON object, got ${formatValue(content)}`);
    return layer;
  }
  for (const [key, value] of Object.entries(content)) {
    const setting = byKey.get(key);
    if (setting === undefined) {
      const meant = didYouMean(key, [...byKey.keys()]);
      faults.push(`unknown key in ${name}; got ${formatValue(key)}${meant}`);
    } else {
      const { isSpaced, isDuration } = setting.schema;
      const isText = typeof value === "string" && (isDuration || isSpaced);
      // A number would be accepted as milliseconds.
      const isNumber = isDuration && typeof value === "number";
      const read = isText || isNumber ? fromText(setting, String(value)) : value;
      layer.set(setting, { source: `${key} in ${name}`, value: read });
    }
  }
  return layer;
}

/** Converts a text to the type of its setting; returns it unchanged if that fails. */
function fromText({ schema }: Setting, written: string): unknown {
  switch (schema["type"]) {
    case "integer":
      if (schema["isDuration"]) {
        const parsed = parseDuration(written);
        return parsed.ok && Value.Check(schema, parsed.ms) ? parsed.ms : written;
      }
      return /^\d{1,15}$/.test(written) ? Number(written) : written;
    case "boolean":
      return written === "true" || (written === "false" ? false : written);
    case "array":
      return schema["isSpaced"] === true
        ? written.split(/\s+/).filter((piece) => piece !== "")
        : written.split(",").map((piece) => piece.trim());
    default:
      return written;
  }
}
