// Local storage, which a browser may refuse: then what is chosen holds for the page.

export const storageKeys = {
  theme: "theme",
  announcement: "announcement.dismissed",
  fonts: "fonts",
} as const;

/** In session storage: that a page was loaded again because code of it could not be had. */
export const reloadedKey = "reloaded";

/** The notice of such a failure. */
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
    // See above.
  }
}
