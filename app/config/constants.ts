// All numeric constants of the site's behaviour.

/** Faster navigations show no progress bar. */
export const progressDelayMs = 200;

/** Delay before a lazy component shows its fallback. */
export const lazyDelayMs = 200;

/** Number of paths whose matched routes are cached. */
export const routeMatchesMax = 10_000;

/**
 * From this width on, the navigation bar replaces the drawer. The stylesheets repeat this number.
 */
export const desktopWidthMin = 996;

export const sidebarWidth = 300;

/** Number of stored searches. */
export const recentSearchesMax = 5;

/** How long a copy button shows its confirmation. */
export const copiedMs = 1_600;
