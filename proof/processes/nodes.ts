// Three nodes on one database, randomly killed, stopped, restarted and cut off while clients use
// all of them. The clients' history must be that of a queue that loses nothing.

import type { Random } from "../../engine/model/random.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { underLoad } from "../../server/nodes/testing/load.ts";
import { freePort } from "../../testing/child-server.ts";
import { Cluster, type NodeProcess } from "../../testing/cluster.ts";
import { Wire } from "../../testing/wire.ts";
import { type Log, type ProofResult, stopwatch } from "../result.ts";

export interface NodesOptions {
  readonly disturbances: number;
  readonly seed: number;
  readonly log: Log;
}

const nodesCount = 3;
const lease = "1s";
/** Up to twice the ownership lease, so that some absences end before another node notices. */
const absenceMsMax = 2_000;
const itemsBetween = 60;

/** A node, and its wires to the database and from the other nodes. */
interface Member {
  readonly node: NodeProcess;
  readonly database: Wire;
  readonly link: Wire;
}

class Members {
  readonly cluster = new Cluster();
  readonly #members = new Map<NodeProcess, Member>();

  async start(port: number = freePort()): Promise<void> {
    const [database, link] = [Wire.to(this.cluster.databasePort), Wire.to(port)];
    const options = { database: database.port, port, nodePort: link.port, lease };
    const node = await this.cluster.start(options);
    this.#members.set(node, { node, database, link });
  }

  /** Every other time, the owner of the busy queue's shard. */
  async chosen(random: Random): Promise<Member> {
    const { nodes } = this.cluster;
    const node =
      random.below(2) === 0 ? await this.cluster.owner() : nodes[random.below(nodes.length)];
    const member = node && this.#members.get(node);
    if (member === undefined) throw new Error("a node is not known");
    return member;
  }
}

interface Scene {
  readonly members: Members;
  readonly member: Member;
  readonly absence: () => Promise<void>;
}

async function restart({ members, member, absence }: Scene, signal: NodeJS.Signals): Promise<void> {
  await member.node.stop(signal);
  await absence();
  await members.start(member.node.port);
}

async function cut(wire: Wire, { absence }: Scene): Promise<void> {
  wire.cut();
  await absence();
  wire.heal();
}

const disturbances: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  kills: (scene) => restart(scene, "SIGKILL"),
  drains: (scene) => restart(scene, "SIGTERM"),
  stops: async ({ member, absence }) => {
    void member.node.stop("SIGSTOP");
    await absence();
    void member.node.stop("SIGCONT");
  },
  databaseCuts: (scene) => cut(scene.member.database, scene),
  nodeCuts: (scene) => cut(scene.member.link, scene),
  breaks: async ({ member }) => {
    member.database.snap();
    member.link.snap();
  },
};

export async function proveNodes({
  disturbances: count,
  seed,
  log,
}: NodesOptions): Promise<ProofResult> {
  const elapsed = stopwatch();
  const random = seededRandom(seed);
  const members = new Members();
  const { cluster } = members;
  const happened: Record<string, number> = {};
  try {
    await cluster.startDatabase();
    await Promise.all(Array.from({ length: nodesCount }, () => members.start()));
    const judged = await underLoad(cluster, async (progress) => {
      const absence = (): Promise<void> => Bun.sleep(random.below(absenceMsMax));
      for (let done = 0; done < count; done += 1) {
        const names = Object.keys(disturbances);
        const name = names[(done + random.below(2)) % names.length] ?? "";
        happened[name] = (happened[name] ?? 0) + 1;
        await disturbances[name]?.({ members, member: await members.chosen(random), absence });
        await progress(itemsBetween);
        if (done % 10 === 9) log(`${done + 1} disturbances`);
      }
    });
    const takeovers = (await cluster.ownerRows()).reduce((sum, { epoch }) => sum + epoch, 0);
    const figures = { disturbances: count, ...happened, takeovers, ...judged.figures };
    const faults = judged.faults.map((fault) => `${fault}--only nodes --seed ${seed}`);
    return { method: "nodes", seconds: elapsed(), seed, figures, faults };
  } finally {
    await cluster.end();
  }
}
