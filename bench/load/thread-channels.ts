// Opens connections to a server of several threads and finds the thread of each. The system assigns
// a connection to a thread, and that thread alone answers requests for paths that do not exist. So
// the processor time of the first thread shows whether it has the connection.

import { type Channel, requestBytes } from "../../testing/http-client.ts";
import { firstThreadSecondsOf } from "../../testing/process-usage.ts";
import type { ByThread } from "./commands.ts";

/** A thread also does other work, but not in each of the trials. */
const trials = 3;
const callsPerTrial = 10;
/** A call takes about 30 µs of its thread; the kernel's part alone exceeds this bound. */
const microsecondsMin = 5;
/** Connections opened per wanted connection; with two threads about two are needed. */
const openedMax = 20;

interface Wanted {
  readonly port: number;
  /** The server's process, on this machine. */
  readonly pid: number;
  readonly counts: ByThread<number>;
}

export async function openByThread(
  open: () => Promise<Channel>,
  { port, pid, counts }: Wanted,
): Promise<ByThread<Channel[]>> {
  const found: ByThread<Channel[]> = { first: [], other: [] };
  const isComplete = () =>
    found.first.length === counts.first && found.other.length === counts.other;
  const request = requestBytes(port, "/v1/no-such-path", "{}");
  for (let left = openedMax * (counts.first + counts.other); !isComplete(); left -= 1) {
    if (left === 0) throw new Error("the system gives a thread of the server too few connections");
    const channel = await open();
    const thread = (await isOfFirstThread(channel, { pid, request })) ? "first" : "other";
    if (found[thread].length < counts[thread]) found[thread].push(channel);
    else channel.close();
  }
  return found;
}

async function isOfFirstThread(
  channel: Channel,
  { pid, request }: { pid: number; request: Uint8Array },
): Promise<boolean> {
  for (let trial = 0; trial < trials; trial += 1) {
    const before = firstThreadSecondsOf(pid);
    for (let call = 0; call < callsPerTrial; call += 1) {
      await new Promise<void>((resolve) => channel.send(request, () => resolve()));
    }
    const microseconds = (firstThreadSecondsOf(pid) - before) * 1e6;
    if (microseconds < callsPerTrial * microsecondsMin) return false;
  }
  return true;
}
