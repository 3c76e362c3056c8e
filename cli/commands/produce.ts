// `holdfast produce`: produces items from arguments, files, or lines of standard input.

import { type Command, Option } from "commander";
import type { Client } from "../../client/client.ts";
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
import {
  dateTimeOf,
  durationMs,
  header,
  instant,
  list,
  priorityOption,
  type When,
  wholeNumber,
} from "../option-parsers.ts";
import { counted } from "../output.ts";

interface Options {
  readonly file?: readonly string[];
  readonly text?: boolean;
  readonly kind?: string;
  readonly reference?: string;
  readonly encoding?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly at?: When;
  readonly uniqueKey?: string;
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly leaseTimeout?: string;
  readonly group?: string;
  readonly key?: string;
  readonly ids?: boolean;
  readonly batch: number;
  readonly timeout: number;
}

/** Leaves room for the rest of the request below the server's default bound. */
const batchBytesMax = bounds.produceBodyBytesMax - 100_000;
const payloadKeys = ["bytes", "utf8", "json"];
const describingKeys = [
  "kind",
  "encoding",
  "reference",
  "headers",
  "enqueue_at",
  "unique_key",
  "priority",
  "max_attempts",
  "lease_timeout",
  "group",
];
const itemKeys = [...describingKeys, ...payloadKeys];
const lineExpected = `a JSON text, or an object with some of ${itemKeys.join(", ")}`;

export function addProduce(program: Command): void {
  program
    .command("produce")
    .description("put items into a queue")
    .argument("<queue>", "name of the queue")
    .argument(
      "[payload...]",
      "payloads as text, one per item; by default JSON lines are read from standard input",
    )
    .option("-f, --file <path>", "an item with the contents of this file; may be repeated", list)
    .option("--text", "lines of standard input are payloads, not JSON")
    .option("--kind <text>", "kind of items that have none")
    .option("--reference <text>", "reference of items that have none")
    .option("--encoding <text>", "encoding of items that have none")
    .option("--header <name=value>", "header of items that have none; may be repeated", header)
    .option("--at <when>", "earliest time to offer them; date-time, or duration from now", instant)
    .option(
      "--unique-key <key>",
      "unique key of items that have none; no second item with it is written",
    )
    .addOption(
      priorityOption(
        "--priority <number>",
        "priority of items that have none, 0 to 9, highest first",
      ),
    )
    .addOption(
      new Option(
        "--max-attempts <count>",
        "maximum attempts of items that have none; by default that of the queue",
      ).argParser(wholeNumber(1, bounds.maxAttemptsMax)),
    )
    .option(
      "--lease-timeout <duration>",
      "lease timeout of items that have none; by default that of the queue",
    )
    .option("--group <name>", "group of items that have none, in a grouped queue")
    .option("--ids", "print the ids of the items, an empty line for a duplicate")
    .option("--key <key>", "idempotency key of this input; a repetition writes nothing twice")
    .addOption(
      new Option("--batch <count>", "maximum number of items per call")
        .argParser(wholeNumber(1, bounds.produceItemsMax))
        .default(500),
    )
    .addOption(
      new Option("--timeout <duration>", "timeout of each call")
        .argParser(durationMs)
        .default(300_000, "5m"),
    )
    .addHelpText(
      "after",
      `
A line of standard input is a JSON text, or an object such as
  {"kind": "order", "json": {"order": 42}}
with any of ${itemKeys.slice(0, 6).join(", ")},
${itemKeys.slice(6).join(", ")}.
With --text a line is a payload of arbitrary bytes; otherwise it must be UTF-8. Empty lines are
skipped. Either all items of a call are written, or none.`,
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
  /** The share of the input read so far, 0 to 1; `undefined` if unknown. */
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

/** The fields of items that have none of their own. */
async function commonFields(options: Options, client: Client): Promise<ProduceItem> {
  const { kind, reference, encoding, header: headers, at, uniqueKey, priority } = options;
  const { maxAttempts, leaseTimeout, group } = options;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(reference === undefined ? {} : { reference }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(headers === undefined ? {} : { headers }),
    ...(at === undefined ? {} : { enqueue_at: await dateTimeOf(at, client) }),
    ...(uniqueKey === undefined ? {} : { unique_key: uniqueKey }),
    ...(priority === undefined ? {} : { priority }),
    ...(maxAttempts === undefined ? {} : { max_attempts: maxAttempts }),
    ...(leaseTimeout === undefined ? {} : { lease_timeout: leaseTimeout }),
    ...(group === undefined ? {} : { group }),
  };
}

async function produce({ context, queue, items, options }: Producing): Promise<void> {
  const { client } = context;
  const { key, ids: wantsIds = false, batch, timeout } = options;
  const common = await commonFields(options, client);
  const progress = context.progress("items");
  const ids: string[] | null = wantsIds ? [] : null;
  let produced = 0;
  let duplicates = 0;
  let gathered: ProduceItem[] = [];
  let gatheredBytes = 0;
  let read: number | undefined;
  /** Items of the call in progress. */
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
    // The same input makes the same calls, each with its own key.
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
      context.note(`interrupted; ${counted(sent, "more item")} may have been stored or not`);
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

/** Also called after a later call failed, because these items are in the store. */
function tellProduced(
  context: Context,
  outcome: {
    readonly queue: string;
    readonly produced: number;
    readonly duplicates: number;
    readonly ids: readonly string[] | null;
  },
): void {
  const { queue: queue_name, duplicates, ids } = outcome;
  const produced = outcome.produced - duplicates;
  const result = {
    ...{ queue_name, produced },
    ...(duplicates > 0 && { duplicates }),
    ...(ids !== null && { ids }),
  };
  const passedOver = duplicates > 0 ? `; ${counted(duplicates, "duplicate")} passed over` : "";
  const summary = `produced ${counted(produced, "item")} into ${queue_name}${passedOver}`;
  // With `--ids`, scripts read only ids from standard output.
  if (ids !== null) context.note(summary);
  context.result(result, () => ids?.join("\n") ?? summary);
}
