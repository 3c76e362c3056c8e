// The module that an embedded engine's workers start with. In the package it is a text within
// the one file of the library, so that a program that is bundled has it inside.

export const workerModule = new URL("./shard/shard.worker.ts", import.meta.url);
