// Rules between settings that are valid individually: an address beyond loopback needs API keys or
// `insecure`, and a certificate needs its key.

export interface BindSettings {
  readonly host: string;
  readonly apiKeysFile: string;
  readonly insecure: boolean;
  readonly tlsCert: string;
  readonly tlsKey: string;
}

export function bindFaults(config: BindSettings): readonly string[] {
  const { host, apiKeysFile, insecure, tlsCert, tlsKey } = config;
  const faults: string[] = [];
  if (!isLoopback(host) && apiKeysFile === "" && !insecure) {
    const expected = "expected --api-keys-file, --insecure or a loopback address";
    faults.push(`host is reachable from other machines; ${expected}, got ${JSON.stringify(host)}`);
  }
  if ((tlsCert === "") !== (tlsKey === "")) {
    const [given, other] = tlsCert === "" ? ["key", "cert"] : ["cert", "key"];
    faults.push(`TLS is incomplete; expected --tls-${other} too, got only --tls-${given}`);
  }
  return faults;
}

/** Whether only this machine can reach the host; false for a name such as `127.example`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|\[::1\]|127(\.\d{1,3}){3}|::ffff:127(\.\d{1,3}){3})$/i.test(host);
}

/** Whether the host means every address of this machine. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Names are not resolved, and count as not public. */
export function isPublic(host: string): boolean {
  const isAddress = /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || host.includes(":");
  const isPrivate =
    /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|\[?f[cd]|\[?fe80:)/i;
  return isAddress && !isLoopback(host) && !isPrivate.test(host);
}
