// `holdfast import`: stores the items of an export in a queue. After each call the progress is
// written to a file beside the export, so that the import can be resumed. Each item has its former
// id as `source_id`, so an item that is sent twice is stored once.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import type { ImportItem } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import {
  parsedLine,
  pipedBytes,
  pipedInput,
  shareOf,
  type TextLine,
  textLinesOf,
} from "../input.ts";
import type { ExportedItem } from "../items-file.ts";
import { wholeNumber } from "../option-parsers.ts";
import { counted } from "../output.ts";

interface Options {
  readonly resume?: boolean;
  readonly again?: boolean;
  readonly keepLeases?: boolean;
  readonly batch: number;
}

/** Far below the server's default bound, because a single line may be large. */
const batchBytesMax = bounds.importBodyBytesMax / 8;
const batchItemsMax = 10_000;

export function addImport(program: Command): void {
  program
    .command("import")
    .description("import the items of an export into a queue")
    .argument("<queue>", "name of the queue, which must exist")
    .argument("[file]", "an export; by default standard input")
    .option("--resume", "continue an interrupted import of this file")
    .option("--again", "start over after an interrupted import of this file")
    .option(
      "--keep-leases",
      "keep items leased until their leases lapse; no client knows their new ids",
    )
    .addOption(
      new Option("--batch <count>", "maximum number of items per call")
        .argParser(wholeNumber(1, batchItemsMax))
        .default(1_000),
    )
    .addHelpText(
      "after",
      `
An item that the partition already has, by its id in the export, is not stored again.
Items of partitions that the queue does not have are spread over its partitions.`,
    )
    .action(async (queue: string, file: string | undefined, options: Options, command: Command) => {
      const context = contextOf(command);
      const source = sourceOf(file, options);
      await importItems({ context, queue, source, options });
    });
}

interface Source {
  readonly input: ReadableStream<Uint8Array>;
  readonly bytes: number | null;
  /** Lines up to this one have been imported. */
  readonly done: number;
  note(line: number): void;
  finish(): void;
}

function sourceOf(file: string | undefined, { resume = false, again = false }: Options): Source {
  if (file === undefined) {
    if (resume || again)
      throw new UsageError("--resume and --again are invalid; expected a file with them");
    const input = pipedInput();
    if (input === null)
      throw new UsageError(
        "there is nothing to import; expected a file, or lines on standard input",
      );
    const note = (): void => undefined;
    return { input, bytes: pipedBytes(), done: 0, note, finish: note };
  }
  if (!existsSync(file))
    throw new UsageError(`file does not exist; expected an export, got '${file}'`);
  const noted = `${file}.imported`;
  const before = existsSync(noted) ? Number(readFileSync(noted, "utf8")) : 0;
  if (before > 0 && !resume && !again) {
    throw new UsageError(
      `import was interrupted after line ${before}; expected --resume to continue, or --again to start over`,
    );
  }
  return {
    input: Bun.file(file).stream(),
    bytes: Bun.file(file).size,
    done: resume ? before : 0,
    note(line) {
      // The rename makes the write atomic.
      writeFileSync(`${noted}.new`, String(line));
      renameSync(`${noted}.new`, noted);
    },
    finish: () => rmSync(noted, { force: true }),
  };
}

interface Tally {
  readonly imported: number;
  /** Found by their `source_id`, including those of an earlier attempt without a reply. */
  readonly alreadyThere: number;
}

interface Importing {
  readonly context: Context;
  readonly queue: string;
  readonly source: Source;
  readonly options: Options;
}

async function importItems({ context, queue, source, options }: Importing): Promise<void> {
  const { client } = context;
  const { requested_partitions } = await client.queueInfo({ name: queue });
  const progress = context.progress("items");
  let tally: Tally = { imported: 0, alreadyThere: 0 };
  let batch: ImportItem[] = [];
  let batchBytes = 0;
  let batchPartition = 0;
  let last: TextLine | null = null;
  const send = async (): Promise<void> => {
    if (batch.length === 0) return;
    const request = { queue_name: queue, partition: batchPartition, items: batch };
    const { items: added } = await client.importItems(request);
    tally = {
      imported: tally.imported + added.length,
      alreadyThere: tally.alreadyThere + batch.length - added.length,
    };
    batch = [];
    batchBytes = 0;
    source.note(last?.number ?? 0);
    progress.update(tally.imported + tally.alreadyThere, shareOf(last, source.bytes));
  };
  try {
    for await (const line of textLinesOf(source.input, expected)) {
      if (line.number <= source.done) continue;
      const { partition, item } = importItem(line, options.keepLeases === true);
      const target = partition % requested_partitions;
      const isFull =
        batch.length === options.batch || batchBytes + line.text.length > batchBytesMax;
      if (isFull || target !== batchPartition) await send();
      batch.push(item);
      batchBytes += line.text.length;
      batchPartition = target;
      last = line;
    }
    await send();
  } catch (error) {
    if (tally.imported + tally.alreadyThere > 0) tellImported(context, queue, tally);
    throw error;
  }
  source.finish();
  progress.end();
  tellImported(context, queue, tally);
}

/** Also called after a later call failed, because these items are in the store. */
function tellImported(
  context: Context,
  queue_name: string,
  { imported, alreadyThere }: Tally,
): void {
  const were = alreadyThere === 1 ? "was" : "were";
  const others = alreadyThere === 0 ? "" : `; ${alreadyThere} ${were} there already`;
  context.result(
    { queue_name, imported, already_there: alreadyThere },
    () => `imported ${counted(imported, "item")} into ${queue_name}${others}`,
  );
}

const expected = "an exported item";

function importItem(line: TextLine, keepLeases: boolean): { partition: number; item: ImportItem } {
  const value = parsedLine(line, expected);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(
      `line ${line.number} is invalid; expected ${expected}, got '${line.text.slice(0, 60)}'`,
    );
  }
  const { partition = 0, scheduled: _, ...item } = value as Partial<ExportedItem>;
  if (!Number.isInteger(partition) || partition < 0) {
    throw new UsageError(
      `line ${line.number} is invalid; expected a partition from 0, got '${partition}'`,
    );
  }
  const released = keepLeases ? {} : { is_leased: false, lease_deadline: null };
  return { partition, item: { ...item, ...released, source_id: item.id ?? item.source_id ?? "" } };
}
