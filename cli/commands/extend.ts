// `holdfast extend`: extends leases.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { forEachLease, leasedCommand } from "../leased.ts";
import { leaseTimeoutOption } from "../option-parsers.ts";

interface Options {
  readonly partition?: number;
  readonly leaseTimeout?: string;
}

export function addExtend(program: Command): void {
  leasedCommand(program, "extend", "extend leases, from now on")
    .addOption(leaseTimeoutOption())
    .action(async (queue_name: string, ids: string[], options: Options, command: Command) => {
      const { client, result } = contextOf(command);
      const { partition, leaseTimeout: lease_timeout = null } = options;
      const deadlines: string[] = [];
      await forEachLease({ queue: queue_name, ids, partition }, command, {
        send: async (lease) => {
          const reply = await client.extend({ queue_name, ...lease, lease_timeout });
          deadlines.push(reply.lease_deadline);
        },
        report: (extended) => {
          // Until the earliest deadline, all of them are held.
          const [lease_deadline = ""] = deadlines.toSorted();
          const held = `extended ${extended} of ${queue_name} until ${lease_deadline}`;
          result({ queue_name, extended, lease_deadline }, () => held);
        },
      });
    });
}
