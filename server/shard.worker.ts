// The worker of one shard of the server: a composition root. It differs from the
// embedded engine's in how leased items are told: as the text of the reply.

import { newTag } from "../engine/ids.ts";
import { systemRandom } from "../engine/random.ts";
import { runShardWorker } from "../engine/shard/run-worker.ts";
import { openStore, type StoreOptions } from "../stores/open.ts";
import { renderLeased } from "./wire/leased.ts";

runShardWorker<StoreOptions>({
  openStore: (config, shard) => openStore(config, shard, () => newTag(systemRandom)),
  renderLeased,
});
