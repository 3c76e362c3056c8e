// Which servers a request can be sent to. Where this page comes from a Holdfast server, on
// whatever port, that one is the first.

import openapi from "../../openapi/openapi.json" with { type: "json" };

export interface Server {
  readonly url: string;
  readonly description?: string;
}

export async function reachableServers(): Promise<readonly Server[]> {
  const { origin } = location;
  const others: readonly Server[] = openapi.servers.filter(({ url }) => url !== origin);
  if (!(await isHoldfast())) return others;
  return [{ url: origin, description: "The server that this page comes from." }, ...others];
}

async function isHoldfast(): Promise<boolean> {
  try {
    const reply = await fetch("/health");
    return reply.headers.get("content-type")?.includes("json") === true;
  } catch {
    return false;
  }
}
