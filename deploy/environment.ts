// What a server's process is started with by `bun start`, the image, the systemd unit and the
// benchmarks. Who starts `holdfast serve` in another way sets it there; the operators' page says so.

/**
 * Bun's allocator gives pages back that were free for some milliseconds, and a server under load takes
 * them again at once. Keeping them for a second costs some 30 MB and saves a tenth of the processor
 * time. It reads this before any of our code runs, so a program cannot set it for itself.
 */
export const serverEnvironment = { MIMALLOC_PURGE_DELAY: "1000" } as const;
