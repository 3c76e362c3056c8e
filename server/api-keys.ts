// API keys: what one looks like, and the text of the file that names those let in.
// The file holds digests only, so neither it nor a backup of it opens the server.
//
//   # what `holdfast key billing` printed
//   8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4  billing

import { timingSafeEqual } from "node:crypto";

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

/** `name` says whose it is; it may be empty. */
export function newApiKey(name: string): NewApiKey {
  const bytes = crypto.getRandomValues(new Uint8Array(keyBytes));
  const key = prefix + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const label = name.replace(/\s+/g, " ");
  return { key, line: `${digestOf(key).toString("hex")}  ${label}`.trimEnd() };
}

export interface ApiKey {
  readonly digest: Buffer;
  /** Whose it is; may be empty. */
  readonly name: string;
}

export type ApiKeys =
  | { readonly ok: true; readonly keys: readonly ApiKey[] }
  /** Names lines and never quotes one: it may hold a key, put there by mistake. */
  | { readonly ok: false; readonly fault: string };

export function parseApiKeys(text: string): ApiKeys {
  const keys: ApiKey[] = [];
  for (const [index, written] of text.split("\n").entries()) {
    const line = written.trim();
    if (line === "" || line.startsWith("#")) continue;
    if (!lineForm.test(line)) {
      const expected = `expected ${digestDigits} hexadecimal digits, then a name`;
      return { ok: false, fault: `line ${index + 1} is invalid; ${expected}` };
    }
    const digest = Buffer.from(line.slice(0, digestDigits), "hex");
    keys.push({ digest, name: line.slice(digestDigits).trim() });
  }
  const count = keys.length;
  if (count > 0 && count <= apiKeysMax) return { ok: true, keys };
  return { ok: false, fault: `keys are invalid; expected 1 to ${apiKeysMax}, got ${count}` };
}

/**
 * The name of the key; `null` = it is not known. Looks at every digest whatever the result, so
 * that the time it takes tells nothing.
 */
export function nameOfKey(key: string, keys: readonly ApiKey[]): string | null {
  // What is no key at all is not worth a digest, and a short secret of somebody's own is none.
  if (!keyForm.test(key)) return null;
  const given = digestOf(key);
  let found: string | null = null;
  for (const { digest, name } of keys) if (timingSafeEqual(digest, given)) found = name;
  return found;
}

function digestOf(key: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(key).digest();
}
