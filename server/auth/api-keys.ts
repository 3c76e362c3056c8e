// API keys: their format, and that of the file with the accepted keys. The file contains only
// digests, so neither it nor a backup of it gives access.
//
//   # printed by `holdfast key billing` and `holdfast key checkout --role produce --queues 'orders*'`
//   8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4  billing
//   5f16b0f4a1ab6ba1b8d1bb3d26fbfa4aa0d0b0fd1bd2bd8d1b6d46da1ca58b0c  role=produce queues=orders*  checkout
//
// Lines with the same digest are one key, whose rights add up.

import { timingSafeEqual } from "node:crypto";
import {
  allRights,
  type KeyIdentity,
  type Rights,
  readRights,
  rightsText,
  type Scopes,
  scopesOf,
} from "./key-rights.ts";

/** Makes keys recognisable to people and to scanners for leaked secrets. */
const prefix = "holdfast_";
/** Too many to guess, so a fast digest is protection enough. */
const keyBytes = 32;
const keyForm = /^holdfast_[A-Za-z0-9_-]{43}$/;
const lineForm = /^[0-9a-f]{64}(?:\s+\S.*)?$/;
const digestDigits = 64;

/** Each request is compared with every key. */
export const apiKeysMax = 100;

export interface NewApiKey {
  /** For the client; never shown again. */
  readonly key: string;
  /** For the file: one line per right. */
  readonly line: string;
}

/**
 * `name`: the owner; may be empty, must not contain `=`. Without `rights` the key has all rights.
 */
export function newApiKey(name: string, ...rights: readonly Rights[]): NewApiKey {
  const bytes = crypto.getRandomValues(new Uint8Array(keyBytes));
  const key = prefix + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const label = name.replace(/\s+/g, " ");
  const digest = digestOf(key).toString("hex");
  const settings = rights.length === 0 ? [""] : rights.map((each) => `${rightsText(each)}  `);
  return { key, line: settings.map((text) => `${digest}  ${text}${label}`.trimEnd()).join("\n") };
}

export interface ApiKey extends KeyIdentity {
  readonly digest: Buffer;
  readonly scopes: Scopes;
}

export type ApiKeys =
  | { readonly ok: true; readonly keys: readonly ApiKey[] }
  /** Names lines but never quotes them: a line may contain a key by mistake. */
  | { readonly ok: false; readonly fault: string };

export function parseApiKeys(text: string): ApiKeys {
  const identities = new Map<string, KeyIdentity>();
  for (const [index, written] of text.split("\n").entries()) {
    const line = written.trim();
    if (line === "" || line.startsWith("#")) continue;
    const read = readLine(line);
    const digest = line.slice(0, digestDigits);
    const sum = typeof read === "string" ? read : mergeLines(read, identities.get(digest));
    if (typeof sum === "string") {
      return { ok: false, fault: `line ${index + 1} is invalid; ${sum}` };
    }
    identities.set(digest, sum);
  }
  const count = identities.size;
  if (count > 0 && count <= apiKeysMax) {
    const keys = [...identities].map(([digest, identity]) => ({
      ...identity,
      digest: Buffer.from(digest, "hex"),
      scopes: scopesOf(identity),
    }));
    return { ok: true, keys };
  }
  return { ok: false, fault: `keys are invalid; expected 1 to ${apiKeysMax}, got ${count}` };
}

/** Merges a line with the earlier lines of its key; returns a text if they are invalid together. */
function mergeLines(line: KeyIdentity, before: KeyIdentity = line): KeyIdentity | string {
  if (before.name !== line.name) return "expected one name for a digest";
  const all = [...before.rights, ...line.rights];
  const rights = all.filter(
    (each, index) => all.findIndex((other) => rightsText(other) === rightsText(each)) === index,
  );
  // Either a second line was meant to limit the key, or the first was forgotten.
  if (rights.length > 1 && rights.includes(allRights)) {
    return "expected role= in each line of a digest";
  }
  return { name: line.name, rights };
}

/** Returns a text if the line is invalid. */
function readLine(line: string): KeyIdentity | string {
  if (!lineForm.test(line)) return `expected ${digestDigits} hexadecimal digits, then a name`;
  const rest = line.slice(digestDigits).trim();
  const words = rest.split(/\s+/);
  const nameAt = words.findIndex((word) => !word.includes("="));
  const settings = nameAt === -1 ? words : words.slice(0, nameAt);
  const read = readRights(settings);
  if (!read.ok) return read.fault;
  const name = rest.replace(/^(\S*=\S*(\s+|$))+/, "");
  // A mistyped setting must not count as a name, or the key would have all rights.
  if (name.includes("=")) return "expected role= and queues= before the name, which has no '='";
  return { name, rights: [read.rights] };
}

/** `null` = unknown. Compares every digest, so that the duration reveals nothing. */
export function findKey<Key extends Pick<ApiKey, "digest">>(
  key: string,
  keys: readonly Key[],
): Key | null {
  // Text of another form is not hashed; a short secret made up by an operator is not a key.
  if (!keyForm.test(key)) return null;
  const given = digestOf(key);
  let found: Key | null = null;
  for (const each of keys) if (timingSafeEqual(each.digest, given)) found = each;
  return found;
}

function digestOf(key: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(key).digest();
}
