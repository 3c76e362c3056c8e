// What a server's process is started with, by every way to start one that is in this repository:
// `bun start`, the image, the systemd unit, the benchmarks.

/**
 * Bun's allocator gives pages back that were free for some milliseconds, and a server under load takes
 * them again at once. Keeping them for a second costs some 30 MB and saves a tenth of the processor
 * time. It reads this before any of our code runs, so a program cannot set it for itself.
 */
export const serverEnvironment = { MIMALLOC_PURGE_DELAY: "1000" } as const;
