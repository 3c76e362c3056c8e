// What is asked of hands and of keys, on all pages.

import { inChromium } from "./testing/in-chromium.ts";
import { testPartialKeys } from "./testing/partial-keys.ts";

inChromium([testPartialKeys]);
