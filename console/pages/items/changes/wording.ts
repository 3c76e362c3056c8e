// What is said of each change: in its dialog, on its button, and when it is done.

import type { Verb } from "./changes.ts";

interface Wording {
  /** On a button that opens the dialog. */
  readonly open: string;
  readonly verb: string;
  readonly done: string;
  /** What it does to the items, and to others. */
  readonly effect: string;
  readonly isHarm: boolean;
  readonly role: "consume" | "admin";
  readonly takesReason: boolean;
}

const lost = "what its holder says of it after that is answered 453";

export const wordings = {
  promote: {
    open: "Make ready now…",
    verb: "Make ready",
    done: "made ready",
    effect: "It is offered at once, at the tail of its partition.",
    isHarm: false,
    role: "admin",
    takesReason: false,
  },
  reject: {
    open: "Send to dead…",
    verb: "Send to dead",
    done: "sent to the dead queue",
    effect: "It is given up, goes to the dead queue, and carries the reason there.",
    isHarm: false,
    role: "admin",
    takesReason: true,
  },
  delete: {
    open: "Delete…",
    verb: "Delete",
    done: "deleted",
    effect: "It is removed for good and goes to no dead queue. Leased items are left alone.",
    isHarm: true,
    role: "admin",
    takesReason: false,
  },
  retry: {
    open: "Retry now…",
    verb: "Take back",
    done: "taken back from their holders",
    effect: `Somebody holds it. Retried now, it goes to the tail under a new id, and ${lost}. If the holder has done the work, it is done twice.`,
    isHarm: false,
    role: "consume",
    takesReason: true,
  },
  giveUp: {
    open: "Send to dead…",
    verb: "Send to dead",
    done: "sent to the dead queue",
    effect: `Somebody holds it. It goes to the dead queue whatever tries are left, and ${lost}.`,
    isHarm: false,
    role: "consume",
    takesReason: true,
  },
  deleteHeld: {
    open: "Delete…",
    verb: "Delete",
    done: "deleted",
    effect: `Somebody may hold it. It is removed for good, goes to no dead queue, and ${lost}.`,
    isHarm: true,
    role: "admin",
    takesReason: false,
  },
  redrive: {
    open: "Redrive…",
    verb: "Redrive",
    done: "redriven",
    effect: "It starts at attempt 0 with a fresh expiry, and keeps its first id and its reason.",
    isHarm: false,
    role: "admin",
    takesReason: false,
  },
} as const satisfies Record<Verb, Wording>;
