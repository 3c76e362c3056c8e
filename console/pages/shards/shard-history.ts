// The last quarter of an hour of a shard, ten seconds a point, as the server kept it.

import type { ServerSeriesReply } from "../../../openapi/schemas.ts";
import { useMayOn } from "../../api/permissions.ts";
import { useQuery } from "../../api/use-query.ts";

const pointMs = 10_000;
const pointsMax = 90;
/** Requests in the time of a point; with more shards each is requested less often. */
const atOnceMax = 8;

export interface ShardHistory {
  /** A second. `null`: not known. */
  readonly commits: readonly (number | null)[];
  readonly p99Us: readonly (number | null)[];
}

const unknown: readonly null[] = Array.from({ length: pointsMax }, () => null);
const noHistory: ShardHistory = { commits: unknown, p99Us: unknown };

/** `shown`: how many are shown with it. */
export function useShardHistory(shard: number, shown: number): ShardHistory {
  const mayRead = useMayOn("read", null);
  const everyMs = pointMs * Math.ceil(shown / atOnceMax);
  const body = { shard, names: ["commits", "commit_p99_us"], step: "10s" };
  const { data } = useQuery("series", body, { everyMs, isEnabled: mayRead });
  return data === undefined ? noHistory : historyOf(data);
}

export function historyOf({ series }: Pick<ServerSeriesReply, "series">): ShardHistory {
  const [commits = [], p99Us = []] = series.map(({ values }) => values);
  const perSecond = commits.map((value) => (value * 1_000) / pointMs);
  return { commits: lastOf(perSecond), p99Us: lastOf(p99Us) };
}

/** The time before the server's start is a gap. */
function lastOf(values: readonly number[]): readonly (number | null)[] {
  return [...unknown, ...values].slice(-pointsMax);
}
