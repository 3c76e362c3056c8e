// Classifies the errors of a runtime's `fetch`: why it failed, and whether that proves that nothing
// was sent. Without proof the request may have arrived.

import { formatError, isInstance } from "./format-error.ts";

/** Codes for a failed connection, which runtimes never use for later failures. */
const unconnected =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_\w+|EMFILE|ENFILE|UND_ERR_CONNECT_TIMEOUT)$/;

/** A certificate is checked before anything is sent. OpenSSL's names, in Node and Bun. */
const untrusted =
  /^(ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|CRL_\w+|ERROR_IN_\w+|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/;

/** Failed TLS handshakes, in Node only: its `fetch` reports later failures as UND_ERR_SOCKET. */
const noHandshake =
  /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|\w+_ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE))$/;

/** The client's own error on Node and Bun. */
export const notConnected = "no connection was made";

/** Messages of Deno, which has no codes, and of Node if TLS breaks off early. */
const unconnectedText =
  /client error \(Connect\)|error trying to connect|before secure TLS connection was established/;
const untrustedText = /invalid peer certificate/;

/** Whether the error proves that there was no connection, so nothing was sent. */
export function isUnsent(error: unknown): boolean {
  return some(error, ({ code, syscall, message }) => {
    if (message === notConnected) return true;
    if (syscall !== undefined) return syscall === "connect" || syscall === "getaddrinfo";
    if (unconnectedText.test(message)) return true;
    return [unconnected, untrusted, noHandshake].some((codes) => codes.test(code));
  });
}

/** Whether the server's certificate is at fault, in which case a retry is useless. */
export function isUntrusted(error: unknown): boolean {
  return some(error, ({ code, message }) => untrusted.test(code) || untrustedText.test(message));
}

interface Failure {
  readonly code: string;
  /** The system call that failed, if the runtime reports it. */
  readonly syscall: string | undefined;
  readonly message: string;
}

/** Whether `holds` is true for the error or one of its causes. */
function some(error: unknown, holds: (failure: Failure) => boolean): boolean {
  if (!isInstance(error, Error)) return false;
  const { code, syscall } = error as Error & { readonly code?: unknown; readonly syscall?: string };
  return holds({ code: `${code}`, syscall, message: error.message }) || some(error.cause, holds);
}

/** Codes and messages of an error and its causes. */
export function describeCauses(error: unknown): string {
  if (!isInstance(error, Error)) return formatError(error);
  const code = "code" in error && !error.message.includes(`${error.code}`) ? `${error.code}: ` : "";
  const cause = error.cause === undefined ? "" : `; ${describeCauses(error.cause)}`;
  return `${code}${error.message}${cause}`;
}
