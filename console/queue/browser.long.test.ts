import { testClocks } from "../testing/clock.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { testQueueChanges } from "../testing/queue-changes.ts";
import { testQueuePage } from "../testing/queue-page.ts";

inChromium([testQueuePage, testQueueChanges, testClocks]);
