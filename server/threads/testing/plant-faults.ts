// Preloaded into a server, so that its workers have planted faults.

const faulty = new URL("./failing.worker.ts", import.meta.url).href;

if (Bun.isMainThread) {
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL) {
      super(String(url).endsWith("/shard.worker.ts") ? faulty : url);
    }
  };
}
