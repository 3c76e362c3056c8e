// Reads the certificate and its key, and checks that they match, before the server listens.

import { createPrivateKey, X509Certificate } from "node:crypto";

export interface TlsFiles {
  /** `""` = no TLS; then `tlsKey` is empty too. */
  readonly tlsCert: string;
  readonly tlsKey: string;
}

export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export type TlsResult =
  | { readonly ok: true; readonly tls: Tls | null }
  /** For the operator; never quotes a file. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** `readFile` throws when the file cannot be read. */
export function readTls(
  { tlsCert, tlsKey }: TlsFiles,
  readFile: (path: string) => string,
): TlsResult {
  if (tlsCert === "" && tlsKey === "") return { ok: true, tls: null };
  const faults: string[] = [];
  const part = <T>(flag: string, expected: string, path: string, parse: (text: string) => T) => {
    let text: string | null = null;
    try {
      text = readFile(path);
      return { text, parsed: parse(text) };
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      // The parser's messages may quote the file.
      const got = JSON.stringify(path) + (text === null ? `: ${words}` : "");
      faults.push(`${flag} is invalid; expected ${expected}, got ${got}`);
      return null;
    }
  };
  const cert = part(
    "--tls-cert",
    "a certificate in PEM",
    tlsCert,
    (text) => new X509Certificate(text),
  );
  const key = part(
    "--tls-key",
    "a private key in PEM without a password",
    tlsKey,
    createPrivateKey,
  );
  if (cert === null || key === null) return { ok: false, faults };
  if (!cert.parsed.checkPrivateKey(key.parsed)) {
    return { ok: false, faults: ["--tls-key is invalid; expected the key of --tls-cert"] };
  }
  return { ok: true, tls: { cert: cert.text, key: key.text } };
}
