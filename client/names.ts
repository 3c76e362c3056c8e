// Random names of consumers and calls.

/** Two hexadecimal digits per random byte. */
export function randomName(byteCount: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(byteCount));
  let name = "";
  for (const byte of bytes) name += (byte + 0x100).toString(16).slice(1);
  return name;
}
