// The parts of the contract that the client uses: types, and the few values that a request needs.
// `scripts/package.ts` evaluates this module for the published package, so that the schemas are not
// included. No other file here may import them.

import {
  type OperationId,
  operations,
  operationsThat,
  type RequestOf,
  type ResponseOf,
} from "../openapi/operations.ts";
import type * as schemas from "../openapi/schemas.ts";

export type Operation = OperationId;

/** A request without its `request_timeout`, which the client sets from `timeoutMs`. */
export type RequestFor<Id extends Operation> = Omit<RequestOf<Id>, "request_timeout">;
export type ReplyFor<Id extends Operation> = ResponseOf<Id>;

/** One method per operation of the contract; `Options` is its second parameter. */
export type Calls<Options> = {
  readonly [Id in Operation]: (request: RequestFor<Id>, options?: Options) => Promise<ReplyFor<Id>>;
};

export type Reply = schemas.Reply;
export type ProduceItem = schemas.ProduceItem;
export type LeaseItem = schemas.LeaseItem;
export type LeaseReply = schemas.LeaseReply;
export type RetryItem = schemas.RetryItem;
export type TransactReply = schemas.TransactReply;
export type QueueInfo = schemas.QueueInfo;
export type QueueCreateRequest = schemas.QueueCreateRequest;
export type QueueUpdateRequest = schemas.QueueUpdateRequest;
export type QueueStatsReply = schemas.QueueStatsReply;
export type QueuePauseRequest = schemas.QueuePauseRequest;
export type QueueClearRequest = schemas.QueueClearRequest;
export type Inspect = schemas.Inspect;
export type QueueExplainReply = schemas.QueueExplainReply;
export type QueueClientsReply = schemas.QueueClientsReply;
export type ServerOverviewReply = schemas.ServerOverviewReply;
export type ServerSeriesReply = schemas.ServerSeriesReply;
export type StorageItem = schemas.StorageItem;
export type ImportItem = schemas.ImportItem;
export type ItemFilter = schemas.ItemFilter;
export type FindItemsRequest = schemas.FindItemsRequest;
export type FoundItem = schemas.FoundItem;
export type SummarizeItemsRequest = schemas.SummarizeItemsRequest;
export type ItemSummary = schemas.ItemSummary;
export type RedriveRequest = schemas.RedriveRequest;
export type CancelledItem = schemas.CancelledItem;
export type GroupInfo = schemas.GroupInfo;
export type GroupsListRequest = schemas.GroupsListRequest;
export type GroupsSetRequest = schemas.GroupsSetRequest;
export type RepairRequest = schemas.RepairRequest;
export type Destination = schemas.Destination;
export type TaskBegun = schemas.TaskBegun;
export type TaskInfo = schemas.TaskInfo;
export type WhoAmIReply = schemas.WhoAmIReply;
export type KeyInfo = schemas.KeyInfo;
export type Action = schemas.Action;
export type Health = schemas.Health;

const entries = Object.entries(operations) as [Operation, (typeof operations)[Operation]][];

export const operationPaths = Object.fromEntries(
  entries.map(([id, { path }]) => [id, path]),
) as Readonly<Record<Operation, string>>;

/** Operations whose request has a `request_timeout`. */
export const timedOperations: readonly Operation[] = entries
  .filter(([, { request }]) => "request_timeout" in request.properties)
  .map(([id]) => id);

/** Operations that take an `Idempotency-Key`. */
export const keyedOperations: readonly Operation[] = entries
  .filter(([, operation]) => "keyed" in operation)
  .map(([id]) => id);

/** Operations that change nothing. */
export const readOperations: readonly Operation[] = operationsThat("reads");

/** Operations that are not idempotent. */
export const nonIdempotentOperations: readonly Operation[] = operationsThat("twice");
