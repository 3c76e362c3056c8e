// `holdfast produce`: items from arguments, from files, or as JSON lines from standard input.

import { type Command, Option } from "commander";
import { produceItem } from "../../client/items.ts";
import type { ProduceItem } from "../../client/wire.ts";
import { bounds } from "../../openapi/bounds.ts";
import { type Context, contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import {
  linesOf,
  parsedLine,
  pipedBytes,
  pipedInput,
  shareOf,
  type TextLine,
  textLinesOf,
} from "../input.ts";
import { interruption, untilAborted } from "../interrupt.ts";
import { counted } from "../output.ts";
import {
  dateTimeOf,
  durationMs,
  header,
  instant,
  list,
  type When,
  wholeNumber,
} from "../values.ts";

interface Options {
  readonly file?: readonly string[];
  readonly text?: boolean;
  readonly kind?: string;
  readonly reference?: string;
  readonly encoding?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly at?: When;
  readonly uniqueKey?: string;
  readonly key?: string;
  readonly ids?: boolean;
  readonly batch: number;
  readonly timeout: number;
}

/** Leaves room for the rest of the request under the server's usual bound. */
const batchBytesMax = bounds.produceBodyBytesMax - 100_000;
const payloadKeys = ["bytes", "utf8", "json"];
const describingKeys = ["kind", "encoding", "reference", "headers", "enqueue_at", "unique_key"];
const itemKeys = [...describingKeys, ...payloadKeys];
const lineExpected = `a JSON text, or an object with some of ${itemKeys.join(", ")}`;

export function addProduce(program: Command): void {
  program
    .command("produce")
    .description("put items into a queue")
    .argument("<queue>", "name of the queue")
    .argument(
      "[payload...]",
      "the text of an item each; without any, JSON lines are read from standard input",
    )
    .option("-f, --file <path>", "an item with the bytes of a file; may be repeated", list)
    .option("--text", "lines of standard input are plain texts, not JSON")
    .option("--kind <text>", "kind of every item that has none")
    .option("--reference <text>", "reference of every item that has none")
    .option("--encoding <text>", "encoding of every item that has none")
    .option("--header <name=value>", "header of every item that has none; may be repeated", header)
    .option("--at <when>", "offer them no sooner; a date-time, or a duration from now", instant)
    .option(
      "--unique-key <key>",
      "unique key of every item that has none; no second one with it is written",
    )
    .option("--ids", "print the items' ids, an empty line for a duplicate")
    .option("--key <key>", "idempotency key of this input; a repetition writes nothing twice")
    .addOption(
      new Option("--batch <count>", "items a call, where there are that many")
        .argParser(wholeNumber(1, bounds.produceItemsMax))
        .default(500),
    )
    .addOption(
      new Option("--timeout <duration>", "how long a call may take")
        .argParser(durationMs)
        .default(300_000, "5m"),
    )
    .addHelpText(
      "after",
      `
A line of standard input is ${lineExpected}:
  {"kind": "order", "json": {"order": 42}}
With --text it is a payload as it stands, whatever its bytes; without, it is UTF-8.
Empty lines are passed over.
All items of a call are written, or none.`,
    )
    .action(
      async (queue: string, payloads: readonly string[], options: Options, command: Command) => {
        const context = contextOf(command);
        const { file: files = [], text = false } = options;
        const isGiven = payloads.length + files.length > 0;
        const items = isGiven ? givenItems(payloads, files) : pipedItems(text);
        await produce({ context, queue, items, options });
      },
    );
}

interface Given {
  readonly item: ProduceItem;
  /** How much of the input has been read with it, where that can be known. */
  readonly share: number | undefined;
}

async function* givenItems(
  payloads: readonly string[],
  files: readonly string[],
): AsyncGenerator<Given> {
  let count = 0;
  const given = (item: ProduceItem): Given => {
    count += 1;
    return { item, share: count / (payloads.length + files.length) };
  };
  for (const utf8 of payloads) yield given({ utf8 });
  for (const path of files) {
    const file = Bun.file(path);
    if (!(await file.exists())) {
      throw new UsageError(`file does not exist; expected one to read, got '${path}'`);
    }
    yield given(produceItem(await file.bytes()));
  }
}

async function* pipedItems(isText: boolean): AsyncGenerator<Given> {
  const input = pipedInput();
  if (input === null) {
    throw new UsageError(
      "there is nothing to produce; expected payloads, --file, or lines on standard input",
    );
  }
  const bytes = pipedBytes();
  if (isText) {
    for await (const line of linesOf(input)) {
      yield { item: produceItem(line.bytes), share: shareOf(line, bytes) };
    }
    return;
  }
  for await (const line of textLinesOf(input, lineExpected)) {
    yield { item: itemOf(line), share: shareOf(line, bytes) };
  }
}

function itemOf(line: TextLine): ProduceItem {
  const value = parsedLine(line, lineExpected);
  if (typeof value === "string") return { utf8: value };
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(
      `line ${line.number} is invalid; expected ${lineExpected}, got '${line.text.slice(0, 60)}'`,
    );
  }
  const unknown = Object.keys(value).find((key) => !itemKeys.includes(key));
  if (unknown !== undefined) {
    throw new UsageError(
      `line ${line.number} is invalid; expected only ${itemKeys.join(", ")}, got '${unknown}'`,
    );
  }
  try {
    return produceItem(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`line ${line.number} is invalid; ${error.message}`);
  }
}

interface Producing {
  readonly context: Context;
  readonly queue: string;
  readonly items: AsyncIterable<Given>;
  readonly options: Options;
}

async function produce({ context, queue, items, options }: Producing): Promise<void> {
  const { client } = context;
  const { kind, reference, encoding, header: headers, at, uniqueKey } = options;
  const { key, ids: wantsIds = false, batch, timeout } = options;
  const common = {
    ...(kind === undefined ? {} : { kind }),
    ...(reference === undefined ? {} : { reference }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(headers === undefined ? {} : { headers }),
    ...(at === undefined ? {} : { enqueue_at: await dateTimeOf(at, client) }),
    ...(uniqueKey === undefined ? {} : { unique_key: uniqueKey }),
  };
  const progress = context.progress("items");
  const ids: string[] | null = wantsIds ? [] : null;
  let produced = 0;
  let duplicates = 0;
  let gathered: ProduceItem[] = [];
  let gatheredBytes = 0;
  let read: number | undefined;
  /** Items of the call that is under way. */
  let sent = 0;
  let calls = 0;
  const signal = interruption();
  const send = async (): Promise<void> => {
    if (gathered.length === 0) return;
    sent = gathered.length;
    const request = {
      ...{ queue_name: queue, items: gathered },
      ...(ids !== null && { return_ids: true }),
    };
    calls += 1;
    // The same input makes the same calls, each with a name of its own.
    const named = key === undefined ? {} : { key: `${key}/${calls}` };
    const reply = await client.produce(request, { timeoutMs: timeout, signal, ...named });
    duplicates += reply.duplicates?.length ?? 0;
    ids?.push(...(reply.ids ?? []));
    sent = 0;
    produced += gathered.length;
    gathered = [];
    gatheredBytes = 0;
    progress.update(produced, read);
  };
  try {
    for await (const { item: own, share } of untilAborted(items, signal)) {
      const item = { ...common, ...own };
      const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
      if (gathered.length === batch || gatheredBytes + bytes > batchBytesMax) await send();
      gathered.push(item);
      gatheredBytes += bytes;
      read = share;
    }
    await send();
  } catch (error) {
    if (produced > 0) tellProduced(context, { queue, produced, duplicates, ids });
    if (signal.aborted && sent > 0) {
      context.note(`interrupted; ${counted(sent, "more item")} may be there or not`);
    }
    throw error;
  } finally {
    if (produced > 0) progress.end();
  }
  if (produced === 0) {
    throw new UsageError(
      "there is nothing to produce; expected payloads, --file, or lines on standard input",
    );
  }
  tellProduced(context, { queue, produced, duplicates, ids });
}

/** Also when a later call failed: these are in the store. */
function tellProduced(
  context: Context,
  told: {
    readonly queue: string;
    readonly produced: number;
    readonly duplicates: number;
    readonly ids: readonly string[] | null;
  },
): void {
  const { queue: queue_name, duplicates, ids } = told;
  const produced = told.produced - duplicates;
  const result = {
    ...{ queue_name, produced },
    ...(duplicates > 0 && { duplicates }),
    ...(ids !== null && { ids }),
  };
  const passedOver = duplicates > 0 ? `; ${counted(duplicates, "duplicate")} passed over` : "";
  const said = `produced ${counted(produced, "item")} into ${queue_name}${passedOver}`;
  // What a script reads are ids alone.
  if (ids !== null) context.note(said);
  context.result(result, () => ids?.join("\n") ?? said);
}
