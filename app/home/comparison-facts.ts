// What could be established of the others by November 2026, and what Holdfast lacks.

export type Answer = "yes" | "partly" | "no";

export interface Fact {
  readonly answer: Answer;
  /** What the answer leaves out; may be empty. */
  readonly note: string;
}

export interface Comparison {
  readonly topic: string;
  /** In the order of `systems`. */
  readonly facts: readonly Fact[];
}

export const systems = ["Holdfast", "bunqueue", "BullMQ", "pg-boss", "beanstalkd"] as const;

const yes = (note = ""): Fact => ({ answer: "yes", note });
const partly = (note = ""): Fact => ({ answer: "partly", note });
const no = (note = ""): Fact => ({ answer: "no", note });

export const comparisons: readonly Comparison[] = [
  {
    topic: "On disk before the answer",
    facts: [
      yes("by default"),
      no("10 ms buffer, then no sync per commit"),
      partly("with Redis appendfsync always"),
      yes("PostgreSQL’s default"),
      partly("with -b and -f 0"),
    ],
  },
  {
    topic: "A late holder is refused",
    facts: [
      yes("new id at each requeue"),
      yes("lock token"),
      yes("lock token"),
      no(),
      yes("by connection"),
    ],
  },
  {
    topic: "A batch in one call",
    facts: [yes("to 1,000, all or nothing"), yes(), partly("complete one by one"), yes(), no()],
  },
  {
    topic: "A lease waits for an item",
    facts: [yes(), yes(), yes(), partly(), yes()],
  },
  {
    topic: "Dead queue",
    facts: [yes(), yes(), partly(), yes(), partly("bury")],
  },
  {
    topic: "Waiting items expire",
    facts: [yes(), yes(), no(), yes(), no()],
  },
  {
    topic: "Runs without another server",
    facts: [yes(), yes(), no("Redis or PostgreSQL"), no("PostgreSQL"), yes()],
  },
  {
    topic: "A lease can be extended",
    facts: [yes(), yes(), yes("automatically"), yes(), yes()],
  },
  {
    topic: "Dead items sent back by one call",
    facts: [yes("at a rate, by filter"), yes(), yes(), yes(), yes("kick")],
  },
  {
    topic: "Priorities",
    facts: [no(), yes(), yes(), yes(), yes()],
  },
  {
    topic: "Idempotent produce",
    facts: [yes("by key, 5 minutes"), yes(), yes(), yes(), no()],
  },
  {
    topic: "Recurring items",
    facts: [no(), yes(), yes(), yes(), no()],
  },
  {
    topic: "Dashboard",
    facts: [yes("part of the server"), yes(), partly("plugin"), yes(), partly("plugin")],
  },
  {
    topic: "Login",
    facts: [
      partly("API keys with roles"),
      partly("token"),
      partly("the database’s"),
      partly("the database’s"),
      no(),
    ],
  },
  {
    topic: "More than one node",
    facts: [
      partly("to take over, on PostgreSQL"),
      partly("with PostgreSQL"),
      partly("the database’s"),
      partly("the database’s"),
      no(),
    ],
  },
];
