// What is asked of hands and of keys, on all pages.

import { testByHand } from "./testing/by-hand.ts";
import { inChromium } from "./testing/in-chromium.ts";
import { testPartialKeys } from "./testing/partial-keys.ts";
import { testTargets } from "./testing/targets.ts";

inChromium([testByHand, testPartialKeys, testTargets]);
