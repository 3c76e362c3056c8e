import { testConnections } from "../testing/connections.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { testLosses } from "../testing/losses.ts";
import { testNodes } from "../testing/nodes.ts";
import { testShardsAndKeys } from "../testing/shards-and-keys.ts";

inChromium([testShardsAndKeys, testConnections, testLosses, testNodes]);
