// The manifest for Kubernetes against the image that it starts and the server in it.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import manifest from "../package.json" with { type: "json" };
import { configReference, readConfig } from "../server/config.ts";
import { run } from "../server/testing/running-app.ts";

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

const read = (file: string) => readFileSync(join(import.meta.dir, file), "utf8");
const text = read("kubernetes/holdfast.yaml");
const documents = parseAllDocuments(text);
const [service, set] = documents.map((document) => document.toJS());
const pod = set.spec.template.spec;
const container: Container = pod.containers[0];
const dockerfile = read("Dockerfile");

test("it is a service and one pod behind it, in YAML without a fault", () => {
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  expect([service.kind, set.kind, set.spec.replicas]).toEqual(["Service", "StatefulSet", 1]);
  const { labels } = set.spec.template.metadata;
  expect([service.spec.selector, set.spec.selector.matchLabels]).toEqual([labels, labels]);
  expect(set.spec.serviceName).toBe(service.metadata.name);
});

test("every setting is one that there is, and the server starts with them", () => {
  const known = configReference().map(({ env }) => env);
  for (const { name } of container.env) expect(known).toContain(name);
  const ofImage = [...dockerfile.matchAll(/(HOLDFAST_\w+)=(\S+)/g)].slice(-2);
  const env = Object.fromEntries([
    ...ofImage.map(([, name = "", value = ""]) => [name, value]),
    ...container.env.map(({ name, value }) => [name, value]),
  ]);
  expect(env).toHaveProperty("HOLDFAST_HOST", "0.0.0.0");
  const config = readConfig({ argv: [], env, readFile: () => "", cpuCount: 2 });
  expect(config.ok ? [] : config.faults).toEqual([]);
});

test("its probes are answered, and so are clients by the names that they use", async () => {
  const value = container.env.find(({ name }) => name === "HOLDFAST_ALLOWED_HOSTS")?.value ?? "";
  const allowedHosts = value.split(",");
  await using app = await run({ config: { host: "0.0.0.0", allowedHosts } });
  const { startupProbe, readinessProbe, livenessProbe } = container;
  for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
    // The kubelet asks by the pod's address.
    const headers = { host: "10.0.0.7:9090" };
    const answer = await app.through(app.send(httpGet.path, { headers }));
    expect([httpGet.path, answer.status]).toEqual([httpGet.path, 200]);
    expect(container.ports.map(({ name }) => name)).toContain(httpGet.port);
  }
  for (const host of allowedHosts) {
    const headers = { host: `${host}:${service.spec.ports[0].port}` };
    expect((await app.through(app.send("/livez", { headers }))).status).toBe(200);
  }
  expect(allowedHosts).toContain(service.metadata.name);
});

test("user, port, version and folders are those of the image", () => {
  const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
  expect(dockerfile).toContain(`\nUSER ${runAsUser}:${runAsGroup}\n`);
  expect(fsGroup).toBe(runAsGroup);
  expect(dockerfile).toContain(`\nEXPOSE ${container.ports[0]?.containerPort}\n`);
  expect(container.image).toEndWith(`:${manifest.version}`);
  const folders = Object.fromEntries(
    container.volumeMounts.map(({ name, mountPath }) => [name, mountPath]),
  );
  expect(dockerfile).toContain(`\nVOLUME ${folders["data"]}\n`);
  const keys = container.env.find(({ name }) => name === "HOLDFAST_API_KEYS_FILE")?.value;
  expect(keys).toBe(`${folders["keys"]}/api-keys`);
  expect(text).toContain("--from-file=api-keys\n");
});

test("a stop gets more time than the server takes for it", () => {
  const waits = configReference().find(({ key }) => key === "shutdownTimeoutMs")?.default;
  expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(Number(waits));
});
