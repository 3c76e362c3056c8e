// What a newcomer pastes: a clone, a server, and an item from produce to complete. The site and
// the README show it; `app/testing/first-steps.ts` pastes it. Without a repository's address it is
// pasted in the folder of the sources.

import { firstCalls } from "../openapi/first-calls.ts";

export function firstSteps(repository: string | null): string {
  const start =
    repository === null
      ? "npx --yes bun start &"
      : `git clone ${repository} holdfast\n(cd holdfast && npx --yes bun start) &`;
  return `${start}\n${untilReady}${firstCalls}`;
}

const untilReady = `curl -sw '\\n' --retry 300 --retry-delay 1 --retry-connrefused \\
  localhost:9090/readyz
`;
