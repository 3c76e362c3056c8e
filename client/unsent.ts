// What the errors of a runtime's `fetch` tell: why it failed, and whether that is a proof
// that nothing was sent. Where it is none, the request may have arrived.

import { isInstance, shown } from "./shown.ts";

/** By these there was no connection; runtimes give them for nothing that comes later. */
const unconnected =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|EMFILE|ENFILE|UND_ERR_CONNECT_TIMEOUT)$/;

/** A certificate is judged before anything is sent. OpenSSL's names, of Node and Bun. */
const untrusted =
  /^(ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|CRL_\w+|ERROR_IN_\w+|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/;

/** TLS did not come about. Node's alone: its `fetch` says UND_ERR_SOCKET of what breaks later. */
const noHandshake =
  /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|\w+_ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE))$/;

/** What the client itself says, on Node and on Bun. */
export const notConnected = "no connection was made";

/** What says so in words: Deno, which has no codes, and Node where TLS breaks off early. */
const saidUnconnected =
  /client error \(Connect\)|error trying to connect|before secure TLS connection was established/;
const saidUntrusted = /invalid peer certificate/;

/** Whether there was no connection that anything could have been sent on. */
export function isUnsent(error: unknown): boolean {
  return some(error, ({ code, syscall, message }) => {
    if (message === notConnected) return true;
    if (syscall !== undefined) return syscall === "connect" || syscall === "getaddrinfo";
    if (saidUnconnected.test(message)) return true;
    return [unconnected, untrusted, noHandshake].some((codes) => codes.test(code));
  });
}

/** Whether it is the server's certificate, which asking again does not change. */
export function isUntrusted(error: unknown): boolean {
  return some(error, ({ code, message }) => untrusted.test(code) || saidUntrusted.test(message));
}

interface Told {
  readonly code: string;
  /** Where the runtime names it, it is that what failed. */
  readonly syscall: string | undefined;
  readonly message: string;
}

/** Whether it holds for an error, or for one that it was caused by. */
function some(error: unknown, holds: (told: Told) => boolean): boolean {
  if (!isInstance(error, Error)) return false;
  const { code, syscall } = error as Error & { readonly code?: unknown; readonly syscall?: string };
  return holds({ code: `${code}`, syscall, message: error.message }) || some(error.cause, holds);
}

/** Codes and messages of an error, and of those that it was caused by. */
export function reasonOf(error: unknown): string {
  if (!isInstance(error, Error)) return shown(error);
  const code = "code" in error && !error.message.includes(`${error.code}`) ? `${error.code}: ` : "";
  const cause = error.cause === undefined ? "" : `; ${reasonOf(error.cause)}`;
  return `${code}${error.message}${cause}`;
}
