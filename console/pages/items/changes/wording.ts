// The words of each change: in its dialog, on its button, and in the footer.

import type { Verb } from "./changes.ts";

interface Wording {
  /** On a button that opens the dialog. */
  readonly open: string;
  readonly verb: string;
  readonly done: string;
  /** What it does to the items. */
  readonly effect: string;
  /** Why none of the items can be changed. */
  readonly none: string;
  readonly isHarm: boolean;
  readonly role: "consume" | "admin";
  readonly takesReason: boolean;
}

const lost = "later calls of the holder for it are answered 453";
const gone = "None is left: they were completed, retried or removed.";

export const wordings = {
  promote: {
    open: "Make ready now…",
    verb: "Make ready",
    done: "made ready",
    effect: "Ready at once, at the tail of the partition.",
    none: "None is scheduled any more: they are ready, leased or gone.",
    isHarm: false,
    role: "admin",
    takesReason: false,
  },
  prioritize: {
    open: "Prioritize…",
    verb: "Prioritize",
    done: "prioritized",
    effect: "Moved behind the items that have the priority; in a group it keeps its place.",
    none: "None can be prioritized: they are leased, or gone.",
    isHarm: false,
    role: "admin",
    takesReason: false,
  },
  reject: {
    open: "Send to dead…",
    verb: "Send to dead",
    done: "sent to the dead queue",
    effect: "Moved to the dead queue, with the reason.",
    none: "None can be sent to the dead queue: they are leased, or gone.",
    isHarm: false,
    role: "admin",
    takesReason: true,
  },
  delete: {
    open: "Delete…",
    verb: "Delete",
    done: "deleted",
    effect: "Removed for good, not to the dead queue. Leased items stay.",
    none: "None can be deleted: they are leased, or gone.",
    isHarm: true,
    role: "admin",
    takesReason: false,
  },
  retry: {
    open: "Retry now…",
    verb: "Take back",
    done: "taken back from their holders",
    effect: `The lease ends. The item is requeued at the tail under a new id, and ${lost}. If the holder has done the work, it is done twice.`,
    none: gone,
    isHarm: false,
    role: "consume",
    takesReason: true,
  },
  giveUp: {
    open: "Send to dead…",
    verb: "Send to dead",
    done: "sent to the dead queue",
    effect: `The lease ends. The item is moved to the dead queue whatever attempts are left, and ${lost}.`,
    none: gone,
    isHarm: false,
    role: "consume",
    takesReason: true,
  },
  deleteHeld: {
    open: "Delete…",
    verb: "Delete",
    done: "deleted",
    effect: `The lease ends. The item is removed for good, not to the dead queue, and ${lost}.`,
    none: gone,
    isHarm: true,
    role: "admin",
    takesReason: false,
  },
  redrive: {
    open: "Redrive…",
    verb: "Redrive",
    done: "redriven",
    effect: "Requeued at attempt 0 with a fresh expiry, with the first id and the reason kept.",
    none: "None can be redriven: they are leased, scheduled or gone.",
    isHarm: false,
    role: "admin",
    takesReason: false,
  },
} as const satisfies Record<Verb, Wording>;
