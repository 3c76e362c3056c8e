// The environment in which `bun start`, the image, the systemd unit and the benchmarks start a
// server. Any other way to start `holdfast serve` must set it too; the operators' page documents
// this.

/**
 * Bun's allocator returns pages to the system after some free milliseconds, and a server under load
 * needs them again at once. Keeping them for a second costs about 30 MB and saves a tenth of the
 * processor time. The allocator reads this before our code runs, so a program cannot set it for
 * itself.
 */
export const serverEnvironment = { MIMALLOC_PURGE_DELAY: "1000" } as const;
