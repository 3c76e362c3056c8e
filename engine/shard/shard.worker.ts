// The worker of an engine that is embedded in a program: a composition root.

import { openStore, type StoreOptions } from "../../stores/open.ts";
import { renderLeased } from "../codec.ts";
import { newTag } from "../ids.ts";
import { systemRandom } from "../random.ts";
import { runShardWorker } from "./run-worker.ts";

runShardWorker<StoreOptions>({
  openStore: (config, shard) => openStore(config, shard, () => newTag(systemRandom)),
  renderLeased,
});
