import { inChromium } from "../testing/in-chromium.ts";
import { testQueueChanges } from "../testing/queue-changes.ts";
import { testQueuePage } from "../testing/queue-page.ts";
import { testShardsAndKeys } from "../testing/shards-and-keys.ts";

inChromium([testQueuePage, testQueueChanges, testShardsAndKeys]);
