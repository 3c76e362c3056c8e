// The frame and the overview. Each page has a file of its own, as they run side by side.

import { testAccess } from "./testing/access.ts";
import { inChromium } from "./testing/in-chromium.ts";
import { testLooks } from "./testing/looks.ts";
import { testLost } from "./testing/lost.ts";
import { testOutage } from "./testing/outage.ts";
import { testOverview } from "./testing/overview.ts";

inChromium([testOverview, testAccess, testLost, testOutage, testLooks]);
