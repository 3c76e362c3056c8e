// What a newcomer pastes: a clone, a server, and an item from produce to complete. The site and
// the README show it; `app/testing/first-steps.ts` pastes it.

import { firstCalls } from "../openapi/first-calls.ts";

/** A reader puts in the address where this is shown; a clone that is there already serves as well. */
const placeholder = "ADDRESS-OF-THE-REPOSITORY";

export function firstSteps(repository: string | null): string {
  return `git clone ${repository ?? placeholder} holdfast\n${start}${firstCalls}`;
}

const start = `(cd holdfast && npx --yes bun start) &
curl -sw '\\n' --retry 300 --retry-delay 1 --retry-connrefused \\
  localhost:9090/readyz
`;
