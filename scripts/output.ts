// What a process says: passed on as it comes, and kept for whoever reads it at the end.

/** A process that this one left behind may hold the pipe open for ever. */
const leftoverTimeoutMs = 2_000;

/** All that came until the process ended; `to` has been given it piece by piece. */
export async function passOn(
  from: ReadableStream<Uint8Array>,
  to: NodeJS.WritableStream,
  exited: Promise<number>,
): Promise<string> {
  const decoder = new TextDecoder();
  let output = "";
  const read = async () => {
    for await (const chunk of from) {
      to.write(chunk);
      output += decoder.decode(chunk, { stream: true });
    }
  };
  await Promise.race([read(), exited.then(() => Bun.sleep(leftoverTimeoutMs))]);
  return output;
}
