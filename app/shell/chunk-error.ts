const texts = /dynamically imported module|importing a module script failed|Unable to preload CSS/i;

/** Whether an error says that a file of the site could not be loaded; each browser has its words. */
export function isChunkError(error: unknown): boolean {
  return error instanceof Error && texts.test(error.message);
}
