// `holdfast export`: writes the items of a queue as JSON lines, without leasing them. After an
// interruption it can be continued after the last complete line of its file.

import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { type Command, Option } from "commander";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { linesOf, parsedLine, textLine } from "../input.ts";
import type { ExportedItem } from "../items-file.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted } from "../output.ts";
import { pagesOf } from "../pages.ts";

interface Options {
  readonly out?: string;
  readonly resume?: boolean;
  readonly page: number;
}

/** The last item of an earlier export. */
interface Position {
  readonly partition: number;
  readonly scheduled: boolean;
  readonly id: string;
}

interface Sink {
  readonly after: Position | null;
  readonly count: number;
  write(text: string): void;
  close(): void;
}

export function addExport(program: Command): void {
  program
    .command("export")
    .description("write the items of a queue as JSON lines, without leasing them")
    .argument("<queue>", "name of the queue")
    .option("-o, --out <file>", "file to write; by default standard output")
    .option("--resume", "continue the file of an interrupted export")
    .addOption(
      new Option("--page <count>", "items per call")
        .argParser(wholeNumber(bounds.storageListMin, bounds.storageListMax))
        .default(1_000),
    )
    .addHelpText(
      "after",
      `
The export is not a snapshot: an item that is retried or lapses during the export moves to the
tail under a new id, and may be written twice or not at all. Stop consumers for an exact export.`,
    )
    .action(async (queue: string, options: Options, command: Command) => {
      const context = contextOf(command);
      const sink = await sinkOf(options);
      try {
        const count = await exportItems({ context, queue, sink, page: options.page });
        if (options.out !== undefined) {
          context.result(
            { queue_name: queue, exported: count, file: options.out },
            () => `exported ${counted(count, "item")} of ${queue} to ${options.out}`,
          );
        }
      } finally {
        sink.close();
      }
    });
}

interface ExportOptions {
  readonly context: Context;
  readonly queue: string;
  readonly sink: Sink;
  readonly page: number;
}

async function exportItems({ context, queue, sink, page }: ExportOptions): Promise<number> {
  const { client } = context;
  const { logical_queues } = await client.stats({ queue_name: queue });
  const partitions = logical_queues.flatMap((logical) => logical.partitions);
  const total = partitions.reduce((sum, row) => sum + row.total + row.scheduled, 0);
  const progress = context.progress("items");
  let { count } = sink;
  for (const { partition } of partitions) {
    for (const scheduled of [false, true]) {
      const pivot = pivotAfter(sink.after, { partition, scheduled });
      if (pivot === null) continue;
      for await (const items of pagesOf(client, { queue, partition, scheduled, pivot, page })) {
        const lines = items.map((item): ExportedItem => ({ partition, scheduled, ...item }));
        sink.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
        count += items.length;
        progress.update(count, total === 0 ? 1 : count / total);
      }
    }
  }
  progress.end();
  return count;
}

/** `null` = the file already has the whole list. */
function pivotAfter(after: Position | null, list: Omit<Position, "id">): string | null {
  if (after === null) return "";
  const rank = (one: Omit<Position, "id">): number => one.partition * 2 + Number(one.scheduled);
  if (rank(list) === rank(after)) return after.id;
  return rank(list) < rank(after) ? null : "";
}

async function sinkOf({ out, resume = false }: Options): Promise<Sink> {
  if (out === undefined) {
    if (resume) throw new UsageError("--resume is invalid; expected --out with it");
    const write = (text: string): void => void process.stdout.write(text);
    return { after: null, count: 0, write, close: () => undefined };
  }
  if (!resume && existsSync(out)) {
    throw new UsageError(`file exists; expected a new one, or --resume, got '${out}'`);
  }
  const earlier = resume && existsSync(out) ? await readExported(out) : nothingExported;
  const file = openSync(out, resume && existsSync(out) ? "r+" : "w");
  // Removes an incomplete last line.
  ftruncateSync(file, earlier.end);
  let { end } = earlier;
  return {
    after: earlier.after,
    count: earlier.count,
    write(text) {
      const bytes = Buffer.from(text);
      // On a full disk a write may be partial: continue until it is complete or fails.
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(file, bytes, done, bytes.length - done, end + done);
      }
      end += bytes.length;
    },
    close() {
      fsyncSync(file);
      closeSync(file);
    },
  };
}

const expected = "an exported item";

/** The complete lines of a file. */
interface Exported {
  /** Offset of the end of the last one, in bytes. */
  readonly end: number;
  readonly count: number;
  readonly after: Position | null;
}

const nothingExported: Exported = { end: 0, count: 0, after: null };

async function readExported(path: string): Promise<Exported> {
  let exported = nothingExported;
  const { size } = Bun.file(path);
  for await (const line of linesOf(Bun.file(path).stream())) {
    // A last line without a line break is incomplete.
    if (line.end === size && !(await endsWithBreak(path, size))) break;
    const item = parsedLine(textLine(line, expected), expected) as ExportedItem;
    const { partition, scheduled, id } = item;
    exported = { end: line.end, count: exported.count + 1, after: { partition, scheduled, id } };
  }
  return exported;
}

async function endsWithBreak(path: string, size: number): Promise<boolean> {
  return (
    (await Bun.file(path)
      .slice(size - 1)
      .text()) === "\n"
  );
}
