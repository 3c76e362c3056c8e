// The exports of `holdfast-client`.

export type { CallOptions } from "./call.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export {
  Busy,
  DeadLetter,
  HoldfastError,
  type HoldfastErrorCode,
  InvalidRequest,
  LeaseEmpty,
  LeaseLapsing,
  LeaseLost,
  NotAuthorized,
  NotInTime,
  OutcomeUnknown,
  RequestFailed,
  StoreFailed,
  Unavailable,
  WorkerStopping,
} from "./errors.ts";
export type { Handling } from "./handling.ts";
export type { ItemFields, LeasedItem, NewItem } from "./items.ts";
export type { ExtendOptions, Lease, Refusals, RetryOptions } from "./lease.ts";
export type { WorkerNotice } from "./notice.ts";
export type { OpenTelemetryApi } from "./opentelemetry.ts";
export type {
  DeleteOptions,
  EnsureOptions,
  LeaseOptions,
  LeasesOptions,
  Produced,
  Queue,
} from "./queue.ts";
export type { Pace } from "./repeat.ts";
export type { Differences, QueueSettings } from "./settings.ts";
export type { Build, Finished, Transaction } from "./transaction.ts";
export type { ClientNotice } from "./trouble.ts";
export type * from "./wire.ts";
export type {
  Handler,
  Worker,
  WorkerCounts,
  WorkOptions,
} from "./worker.ts";
