import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/call.ts";
import { session } from "../../api/session.ts";
import { type RangeId, ranges } from "../../components/chart/ranges.ts";
import { useObserved } from "../../state/observable.ts";
import { useAsksAgain } from "../../state/overview-poll.ts";
import { serverNow } from "../../state/server-time.ts";
import { fromOf } from "../overview/flow-series.ts";
import { noSeries, type QueueSeries, seriesNames, withPoints } from "./queue-series.ts";

/** Once for the range, then what came since. */
export function useSeries(name: string, range: RangeId, isWanted: boolean) {
  const { visit, asksKey } = useObserved(session);
  const isAsking = useAsksAgain();
  const client = useQueryClient();
  const queryKey = ["series", visit, range, name];
  const { step, stepSeconds } = ranges[range];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<QueueSeries>(queryKey);
      const nowSeconds = serverNow() / 1_000;
      const known = before && { times: before.times, in: [], out: [] };
      const from = fromOf(known, range, nowSeconds);
      const body = { queue_name: name, names: [...seriesNames], from, step };
      const reply = await ask("series", body, { signal });
      return withPoints({ before, reply, range, nowSeconds });
    },
    enabled: !asksKey && isWanted,
    retry: false,
    refetchInterval: isAsking && stepSeconds * 1_000,
    placeholderData: noSeries,
  });
}
