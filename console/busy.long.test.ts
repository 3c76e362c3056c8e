// Much at once: queues by the thousand, polls, and a server at work.

import { inChromium } from "./testing/in-chromium.ts";
import { testMany } from "./testing/many.ts";
import { testNamesEverywhere } from "./testing/names.ts";

inChromium([testNamesEverywhere, testMany]);
