import { testChanges } from "../testing/changes.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { testItems } from "../testing/items.ts";
import { testLongLook } from "../testing/long-look.ts";
import { testPayloads } from "../testing/payloads.ts";

inChromium([testItems, testPayloads, testChanges, testLongLook]);
