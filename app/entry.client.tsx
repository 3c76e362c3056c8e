// Starts the interactive parts of a page. The page is complete without this.

import { startAnalytics } from "./analytics/start-analytics.ts";
import { startAnnouncement } from "./behaviours/announcement.ts";
import { startColorMode } from "./behaviours/color-mode.ts";
import { startCopying } from "./behaviours/copy.ts";
import { startDrawer } from "./behaviours/drawer.ts";
import { startDropdowns } from "./behaviours/dropdowns.ts";
import { startFonts } from "./behaviours/fonts.ts";
import { startLater } from "./behaviours/later.ts";
import { startLinks } from "./behaviours/links.ts";
import { startNavbar } from "./behaviours/navbar.ts";
import { startProgress } from "./behaviours/progress.ts";
import { startTabs } from "./behaviours/tabs.ts";
import { startToc } from "./behaviours/toc.ts";
import { startIslands } from "./islands/start-islands.ts";
import { startReference } from "./reference/start-reference.ts";
import { startSearch } from "./search/open-search.ts";

startReference();
startTabs();
startColorMode();
startAnnouncement();
startDropdowns();
startDrawer();
startNavbar();
startToc();
startCopying();
startLinks();
startFonts();
startLater();
startProgress();
startSearch();
startIslands();

// From here on presses are handled; an earlier one is replayed.
document.documentElement.dataset["mounted"] = "";
const { earlyPress } = window as { earlyPress?: HTMLElement };
if (earlyPress?.isConnected === true) earlyPress.click();

startAnalytics(document.documentElement.dataset["analytics"]);
