// Much at once: queues by the thousand, polls, and a server at work.

import { testBusy } from "./testing/busy.ts";
import { inChromium } from "./testing/in-chromium.ts";
import { testMany } from "./testing/many.ts";
import { testNamesEverywhere } from "./testing/names.ts";
import { testPolls } from "./testing/polls.ts";

inChromium([testPolls, testNamesEverywhere, testBusy, testMany]);
