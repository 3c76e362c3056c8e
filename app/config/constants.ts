// The numbers of the site's behaviour, all of them.

/** Navigations that are faster than this show no progress bar. */
export const progressDelayMs = 200;

/** Lazy components show their fallback after this long, not at once. */
export const lazyDelayMs = 200;

/** Paths whose matched routes are remembered. */
export const routeMatchesMax = 10_000;

/** At this width the drawer gives way to the whole navigation bar. The stylesheets repeat it. */
export const desktopWidthMin = 996;

export const sidebarWidth = 300;

/** Searches that are remembered. */
export const recentSearchesMax = 5;

/** How long a copy button says that it has copied. */
export const copiedMs = 1_600;
