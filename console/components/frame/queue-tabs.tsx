import type { ReactNode } from "react";
import { Link } from "react-router";
import type { QueueInfo } from "../../../openapi/schemas.ts";
import { deadAddress, groupsAddress, itemsAddress, queueAddress } from "../../addresses.ts";

interface QueueTabsProps {
  readonly name: string;
  readonly here: "Items" | "Groups";
  readonly info: QueueInfo | undefined;
}

/** The other pages of a queue. */
export function QueueTabs({ name, here, info }: QueueTabsProps): ReactNode {
  const addresses = {
    Now: queueAddress(name),
    Items: itemsAddress(name),
    ...(info?.dead_queue && { Dead: deadAddress(info.dead_queue) }),
    // Both only when they are known, so that none moves.
    ...(info && (info.grouped || here === "Groups") && { Groups: groupsAddress(name) }),
  };
  return (
    <nav className="tabs" aria-label="Of this queue">
      {Object.entries(addresses).map(([title, to]) =>
        title === here ? (
          <a key={title} href="#main" aria-current="page">
            {title}
          </a>
        ) : (
          <Link key={title} to={to}>
            {title}
          </Link>
        ),
      )}
    </nav>
  );
}
