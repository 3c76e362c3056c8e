// The readers of requests and writers of replies in protobuf, which the app creates once per
// operation when it starts.

import type { OperationId } from "../../openapi/operations.ts";
import { operationMessages, replyMessage, textCodes } from "../../openapi/protobuf.ts";
import { bodyLimits } from "../http/body/body-limits.ts";
import { mapInPieces } from "../http/body/pieces.ts";
import { encodeJson, type ReplyEncoder } from "../http/reply.ts";
import { JsonText, PageText } from "../routes/route.ts";
import { messageReader, messageWriter, piecewiseReader } from "./codec.ts";
import { answerType, protobufTypeOf } from "./negotiation.ts";

/** Returns the reader of an operation's requests; its values are not validated. */
export function protobufReader(id: OperationId): (bytes: Uint8Array) => unknown {
  const { request } = operationMessages[id];
  const readWhole = messageReader(request);
  const readInPieces = piecewiseReader(request);
  return (bytes) =>
    bytes.byteLength > bodyLimits.pieceBytes ? readInPieces(bytes) : readWhole(bytes);
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the writer of an operation's replies. */
export function protobufWriter(id: OperationId): (reply: unknown) => Bytes | Promise<Bytes> {
  const { reply: message } = operationMessages[id];
  const write = messageWriter(message);
  const { items } = message.fields;
  const writeItems = items && messageWriter({ ...message, fields: { items } });
  return (reply) => {
    if (writeItems && reply instanceof PageText) return pageBytes(reply, write, writeItems);
    return write(reply instanceof JsonText ? JSON.parse(reply.text) : reply);
  };
}

/** In protobuf, concatenated messages are one message, with their lists joined. */
async function pageBytes(
  { items, rest }: PageText,
  write: (values: unknown) => Bytes,
  writeItems: (values: unknown) => Bytes,
): Promise<Bytes> {
  const parts = await mapInPieces(
    items,
    ({ length }) => length,
    (text) => writeItems({ items: [JSON.parse(text)] }),
  );
  return Buffer.concat([write({ ...rest, items: [] }), ...parts]);
}

const writeReply = messageWriter(replyMessage);

/** Returns the encoder of error replies to this request. */
export function errorEncoder(request: Request): ReplyEncoder {
  const contentType = answerType(request, protobufTypeOf(request.headers.get("content-type")));
  if (contentType === null) return encodeJson;
  return (reply) =>
    textCodes.has(reply.code)
      ? { contentType: "text/plain; charset=utf-8", body: reply.message }
      : { contentType, body: writeReply(reply) };
}
