// Typed payloads: whatever the compiler accepts, the server stores unchanged.

import { expect, test } from "bun:test";
import { listeningApp } from "../server/testing/listening-app.ts";
import { createClient } from "./client.ts";

interface Job {
  readonly to: string;
}

test("queue: its type parameter is the type of json in produce, lease and work", async () => {
  await using server = await listeningApp();
  const jobs = createClient({ url: server.url }).queue<Job>("jobs");
  await jobs.create({ lease_timeout: "1m", expire_timeout: "1h" });
  await jobs.produce([{ json: { to: "ada" } }, { json: { to: "bob" } }]);
  // @ts-expect-error: it is not a Job.
  const wrong = () => jobs.produce({ json: { too: "ada" } });
  expect(wrong).toBeFunction();
  const lease = await jobs.lease();
  const [item] = lease?.items ?? [];
  const job: Job | undefined = item?.json();
  expect(job).toEqual({ to: "ada" });
  await lease?.complete(lease.items);
  const { promise: to, resolve } = Promise.withResolvers<string>();
  await using worker = jobs.work((leased) => resolve(leased.json().to), { processSignals: [] });
  expect(await to).toBe("bob");
  await worker.stop();
});
