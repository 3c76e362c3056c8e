// Passes on the output of a process as it arrives, and returns all of it at the end.

/** A child left behind by the process may hold the pipe open forever. */
const leftoverTimeoutMs = 2_000;

/** The whole output until the process ended; `to` receives it in pieces. */
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
