// Names that nobody else has, of consumers and of calls.

/** Two hexadecimal digits for each byte of chance. */
export function randomName(byteCount: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(byteCount));
  let name = "";
  for (const byte of bytes) name += (byte + 0x100).toString(16).slice(1);
  return name;
}
