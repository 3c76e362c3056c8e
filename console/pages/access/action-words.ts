// What was done, in a word or two, by the operation that did it.

const words: Readonly<Record<string, string>> = {
  createQueue: "created",
  updateQueue: "updated",
  deleteQueue: "deleted",
  pause: "paused",
  resume: "resumed",
  clear: "cleared",
  reload: "reloaded",
  redrive: "redrove",
  repair: "repaired",
  retry: "retried",
  cancelTask: "stopped a task",
  importItems: "imported",
  deleteItems: "deleted items",
  advance: "advanced the clock",
  backup: "made a backup",
  drainNode: "drained or undrained a node",
  confirmLoss: "confirmed a loss",
};

export function doneText(operation: string): string {
  return words[operation] ?? operation;
}
