// API keys: what one looks like, and the text of the file that names those let in.
// The file holds digests only, so neither it nor a backup of it opens the server.
//
//   # what `holdfast key billing` printed, and `holdfast key checkout --role produce --queues 'orders*'`
//   8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4  billing
//   5f16b0f4a1ab6ba1b8d1bb3d26fbfa4aa0d0b0fd1bd2bd8d1b6d46da1ca58b0c  role=produce queues=orders*  checkout

import { timingSafeEqual } from "node:crypto";
import {
  everything,
  type Grant,
  isForAllQueues,
  queueTest,
  type Rights,
  readRights,
  rightsText,
} from "./key-rights.ts";

/** A key is known by sight, to people and to programs that look for leaked secrets. */
const prefix = "holdfast_";
/** Beyond guessing, which is why a fast digest protects it well enough. */
const keyBytes = 32;
const keyForm = /^holdfast_[A-Za-z0-9_-]{43}$/;
const lineForm = /^[0-9a-f]{64}(?:\s+\S.*)?$/;
const digestDigits = 64;

/** Each request is compared with every key. */
export const apiKeysMax = 100;

export interface NewApiKey {
  /** For the client, and shown nowhere again. */
  readonly key: string;
  /** For the file. */
  readonly line: string;
}

/** `name` says whose it is; it may be empty, and has no `=`. */
export function newApiKey(name: string, rights: Rights = everything): NewApiKey {
  const bytes = crypto.getRandomValues(new Uint8Array(keyBytes));
  const key = prefix + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const label = name.replace(/\s+/g, " ");
  const settings = rights === everything ? "" : `${rightsText(rights)}  `;
  return { key, line: `${digestOf(key).toString("hex")}  ${settings}${label}`.trimEnd() };
}

export interface ApiKey extends Grant {
  readonly digest: Buffer;
  readonly isForAllQueues: boolean;
  /** Whether it is for the queue of this name. */
  readonly isFor: (queue: string) => boolean;
}

export type ApiKeys =
  | { readonly ok: true; readonly keys: readonly ApiKey[] }
  /** Names lines and never quotes one: it may hold a key, put there by mistake. */
  | { readonly ok: false; readonly fault: string };

export function parseApiKeys(text: string): ApiKeys {
  const keys: ApiKey[] = [];
  const lines = new Map<string, string>();
  for (const [index, written] of text.split("\n").entries()) {
    const line = written.trim();
    if (line === "" || line.startsWith("#")) continue;
    const read = readLine(line);
    const digest = line.slice(0, digestDigits);
    // Which of them would hold?
    const isTwice = (lines.get(digest) ?? line) !== line;
    if (typeof read === "string" || isTwice) {
      const fault = typeof read === "string" ? read : "expected one line for a digest";
      return { ok: false, fault: `line ${index + 1} is invalid; ${fault}` };
    }
    lines.set(digest, line);
    keys.push(read);
  }
  const count = keys.length;
  if (count > 0 && count <= apiKeysMax) return { ok: true, keys };
  return { ok: false, fault: `keys are invalid; expected 1 to ${apiKeysMax}, got ${count}` };
}

/** What is wrong with it, as a text. */
function readLine(line: string): ApiKey | string {
  if (!lineForm.test(line)) return `expected ${digestDigits} hexadecimal digits, then a name`;
  const rest = line.slice(digestDigits).trim();
  const words = rest.split(/\s+/);
  const nameAt = words.findIndex((word) => !word.includes("="));
  const settings = nameAt === -1 ? words : words.slice(0, nameAt);
  const read = readRights(settings);
  if (!read.ok) return read.fault;
  const name = rest.replace(/^(\S*=\S*(\s+|$))+/, "");
  // Taken for a name, a slip of the pen would open everything.
  if (name.includes("=")) return "expected role= and queues= before the name, which has no '='";
  return {
    ...read.rights,
    name,
    digest: Buffer.from(line.slice(0, digestDigits), "hex"),
    isForAllQueues: isForAllQueues(read.rights),
    isFor: queueTest(read.rights.queues),
  };
}

/** `null` = it is not known. Looks at every digest, so that the time it takes tells nothing. */
export function findKey<Key extends Pick<ApiKey, "digest">>(
  key: string,
  keys: readonly Key[],
): Key | null {
  // What is no key at all is not worth a digest, and a short secret of somebody's own is none.
  if (!keyForm.test(key)) return null;
  const given = digestOf(key);
  let found: Key | null = null;
  for (const each of keys) if (timingSafeEqual(each.digest, given)) found = each;
  return found;
}

function digestOf(key: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(key).digest();
}
