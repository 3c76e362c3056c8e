// Reads an strace log: the calls of a process that change files, in order, with every byte.

export type TracedCall =
  | {
      readonly kind: "write";
      readonly path: string;
      readonly at: number;
      readonly bytes: Uint8Array;
    }
  /** At the current end of the file. */
  | { readonly kind: "append"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly path: string; readonly size: number }
  /**
   * Recorded only if another call precedes the end of the sync: the sync may miss writes in
   * between.
   */
  | { readonly kind: "sync begins"; readonly path: string }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "remove"; readonly path: string };

/** More than any single call writes here. */
const stringBytesMax = 1 << 26;

/** Prefix for a command that traces it and all its threads into the file. */
export function traceCommand(file: string): string[] {
  const calls = "pwrite64,write,pwritev,writev,fsync,fdatasync,ftruncate,unlink,rename";
  const flags = ["-f", "-y", "-xx", "-s", String(stringBytesMax), "-e", `trace=${calls}`];
  return ["strace", ...flags, "-o", file];
}

/** Successful calls on files under the folder. */
export function readTrace(trace: Uint8Array, folder: string): TracedCall[] {
  const calls: TracedCall[] = [];
  /** Starts of interrupted calls, by thread. */
  const begun = new Map<string, Uint8Array>();
  for (let start = 0; start < trace.length; ) {
    const newline = trace.indexOf(10, start);
    const end = newline === -1 ? trace.length : newline;
    const call = readThreadLine(trace.subarray(start, end), begun);
    if (call?.path.startsWith(folder)) calls.push(call);
    start = end + 1;
  }
  return calls;
}

const open = 0x28;
const quote = 0x22;

const threadNumber = /^\d+ +/;
const unfinished = " <unfinished ...>";
const resumed = /^<\.\.\. \w+ resumed>/;

/** `773 fdatasync(13<…> <unfinished ...>`, and later `773 <... fdatasync resumed>) = 0`. */
function readThreadLine(line: Uint8Array, begun: Map<string, Uint8Array>): TracedCall | null {
  const head = latin1(line.subarray(0, 100));
  const thread = threadNumber.exec(head)?.[0] ?? "";
  const rest = line.subarray(thread.length);
  if (latin1(rest.subarray(-unfinished.length)) === unfinished) {
    const beginning = rest.subarray(0, rest.length - unfinished.length);
    begun.set(thread, beginning);
    const path = /^f(data)?sync\(/.test(head.slice(thread.length)) ? pathOf(beginning) : null;
    return path === null ? null : { kind: "sync begins", path };
  }
  const again = resumed.exec(head.slice(thread.length))?.[0];
  if (again === undefined) return readLine(rest);
  const beginning = begun.get(thread) ?? new Uint8Array();
  begun.delete(thread);
  return readLine(Buffer.concat([beginning, rest.subarray(again.length)]));
}

function readLine(line: Uint8Array): TracedCall | null {
  const paren = line.indexOf(open);
  if (paren < 0) return null;
  const name = latin1(line.subarray(0, paren));
  // The result after the last bracket: ` = 4096`, or ` = -1 EIO (…)`.
  const tail = latin1(line.subarray(Math.max(paren, line.length - 200)));
  const result = /\) += (-?\d+)/.exec(tail)?.[1];
  if (result === undefined || Number(result) < 0) return null;
  switch (name) {
    case "pwrite64":
    case "write": {
      const path = pathOf(line);
      const from = line.indexOf(quote);
      const to = line.lastIndexOf(quote);
      if (path === null || from < 0) return null;
      const bytes = hexBytes(line, from + 1, to).subarray(0, Number(result));
      if (name === "write") return { kind: "append", path, bytes };
      const rest = latin1(line.subarray(to + 1, line.length));
      const at = Number(/, \d+, (\d+)\)/.exec(rest)?.[1]);
      return { kind: "write", path, at, bytes };
    }
    case "fsync":
    case "fdatasync": {
      const path = pathOf(line);
      return path === null ? null : { kind: "sync", path };
    }
    case "ftruncate": {
      const path = pathOf(line);
      const size = Number(/>, (\d+)\)/.exec(latin1(line))?.[1]);
      return path === null ? null : { kind: "truncate", path, size };
    }
    case "unlink": {
      const from = line.indexOf(quote);
      const path = latin1(hexBytes(line, from + 1, line.indexOf(quote, from + 1)));
      return { kind: "remove", path };
    }
    default:
      // An unknown call must be noticed if it concerns these files.
      return { kind: "append", path: unknownCall(name, line), bytes: new Uint8Array() };
  }
}

function unknownCall(name: string, line: Uint8Array): string {
  const path = pathOf(line) ?? "";
  if (path.includes(".db")) throw new Error(`a trace holds a call that is not understood; ${name}`);
  return "";
}

/** The path of a file descriptor: `13<\x2f\x74…>`. */
function pathOf(line: Uint8Array): string | null {
  const from = line.indexOf(0x3c);
  const to = line.indexOf(0x3e);
  return from < 0 || to < from ? null : latin1(hexBytes(line, from + 1, to));
}

/** Decodes bytes written as `\x0a`, four characters each. */
function hexBytes(line: Uint8Array, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array((to - from) >> 2);
  for (let index = 0; index < bytes.length; index += 1) {
    const at = from + 4 * index + 2;
    bytes[index] = (nibble(line[at] ?? 0) << 4) | nibble(line[at + 1] ?? 0);
  }
  return bytes;
}

function nibble(letter: number): number {
  return letter <= 0x39 ? letter - 0x30 : letter - 0x57;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
