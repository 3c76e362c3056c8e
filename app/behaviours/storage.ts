// Local storage, which a browser may refuse; choices then last only for the page.

export const storageKeys = {
  theme: "theme",
  announcement: "announcement.dismissed",
  fonts: "fonts",
} as const;

/** Key in session storage: the page was reloaded because code of it failed to load. */
export const reloadedKey = "reloaded";

/** Id of the notice of such a failure. */
export const failureId = "part-failure";

export function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is refused.
  }
}
