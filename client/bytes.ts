// Base64 in all runtimes; newer ones have it built in, which is faster.

interface BuiltIn {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as unknown as BuiltIn;
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Bytes that can safely be passed as arguments of one call. */
const pieceBytes = 8_192;

export function base64OfBytes(bytes: Uint8Array): string {
  if ("toBase64" in bytes && typeof bytes.toBase64 === "function") return bytes.toBase64();
  let binary = "";
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  }
  return btoa(binary);
}
