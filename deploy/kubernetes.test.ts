// Checks the Kubernetes manifest against its image and the server.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import manifest from "../package.json" with { type: "json" };
import { readConfig } from "../server/config/config.ts";
import { configReference } from "../server/config/settings.ts";
import { run } from "../server/testing/running-app.ts";

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly Variable[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

const read = (file: string) => readFileSync(join(import.meta.dir, file), "utf8");
const text = read("kubernetes/holdfast.yaml");
const documents = parseAllDocuments(text);
const [service, set, backup] = documents.map((document) => document.toJS());
const pod = set.spec.template.spec;
const container: Container = pod.containers[0];
const dockerfile = read("Dockerfile");
const namespace = "jobs";

/** The variables as filled in by Kubernetes in a namespace. */
function filled(env: readonly Variable[]): Record<string, string> {
  const given = env.map(({ name, value = namespace }) => [
    ...[name, value.replaceAll("$(POD_NAMESPACE)", namespace)],
  ]);
  return Object.fromEntries(given);
}

test("it is a service and one pod behind it, in YAML without a fault", () => {
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  expect([service.kind, set.kind, set.spec.replicas]).toEqual(["Service", "StatefulSet", 1]);
  const { labels } = set.spec.template.metadata;
  expect([service.spec.selector, set.spec.selector.matchLabels]).toEqual([labels, labels]);
  expect(set.spec.serviceName).toBe(service.metadata.name);
});

test("every setting is one that there is, and the server starts with them", () => {
  const known = configReference().map(({ env }) => env);
  const { POD_NAMESPACE, ...settings } = filled(container.env);
  expect(POD_NAMESPACE).toBe(namespace);
  for (const name of Object.keys(settings)) expect(known).toContain(name);
  const ofImage = [...dockerfile.matchAll(/(HOLDFAST_\w+)=(\S+)/g)].slice(-2);
  const env = Object.fromEntries([
    ...ofImage.map(([, name = "", value = ""]) => [name, value]),
    ...Object.entries(settings),
  ]);
  expect(env).toHaveProperty("HOLDFAST_HOST", "0.0.0.0");
  const config = readConfig({ argv: [], env, readFile: () => "" });
  expect(config.ok ? [] : config.faults).toEqual([]);
});

test("its probes are answered, and so are clients by the names that they use", async () => {
  const allowedHosts = filled(container.env)["HOLDFAST_ALLOWED_HOSTS"]?.split(",") ?? [];
  await using app = await run({ config: { host: "0.0.0.0", allowedHosts } });
  const { startupProbe, readinessProbe, livenessProbe } = container;
  for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
    // The kubelet uses the pod's address.
    const headers = { host: "10.0.0.7:9090" };
    const answer = await app.through(app.send(httpGet.path, { headers }));
    expect([httpGet.path, answer.status]).toEqual([httpGet.path, 200]);
    expect(container.ports.map(({ name }) => name)).toContain(httpGet.port);
  }
  for (const host of allowedHosts) {
    const headers = { host: `${host}:${service.spec.ports[0].port}` };
    expect((await app.through(app.send("/livez", { headers }))).status).toBe(200);
  }
  // Every form of a Service's name, in any namespace.
  const { name } = service.metadata;
  const forms = ["", `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`];
  expect(allowedHosts).toEqual(forms.map((form) => name + form));
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
  const { HOLDFAST_API_KEYS_FILE, HOLDFAST_BACKUPS } = filled(container.env);
  expect(HOLDFAST_BACKUPS).toBe(String(folders["backups"]));
  expect(HOLDFAST_API_KEYS_FILE).toBe(`${folders["keys"]}/api-keys`);
  expect(text).toContain("--from-file=api-keys\n");
});

test("a stop gets more time than the server takes for it", () => {
  const waits = configReference().find(({ key }) => key === "shutdownTimeoutMs")?.default;
  expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(Number(waits));
});

test("backups have a volume of their own, and are made by a job with a key", () => {
  const claims = set.spec.volumeClaimTemplates.map(
    ({ metadata }: { metadata: { name: string } }) => metadata.name,
  );
  expect(claims).toEqual(["data", "backups"]);
  const { schedule, concurrencyPolicy, jobTemplate } = backup.spec;
  expect([backup.kind, concurrencyPolicy]).toEqual(["CronJob", "Forbid"]);
  expect(schedule).toMatch(/^\d+ \d+ \* \* \*$/);
  const [job] = jobTemplate.spec.template.spec.containers;
  expect(job).toMatchObject({ image: container.image, args: ["backup"] });
  const [url, key] = job.env;
  const address = `http://${service.metadata.name}:${service.spec.ports[0].port}`;
  expect(url).toEqual({ name: "HOLDFAST_URL", value: address });
  const { secretKeyRef } = key.valueFrom;
  expect([key.name, secretKeyRef]).toEqual([
    "HOLDFAST_API_KEY",
    { name: "holdfast-backup-key", key: "key" },
  ]);
  expect(text).toContain(
    'secret generic holdfast-backup-key --from-literal=key="$(docker run --rm holdfast:0.1.0 key backup --role admin)"\n',
  );
});

test("its memory has room for the bodies of requests and for the rest", () => {
  const rows = configReference();
  const bodies = Number(rows.find(({ key }) => key === "bodiesMax")?.default);
  const gibibytes = Number(/^(\d+)Gi$/.exec(container.resources.limits.memory)?.[1]);
  // Each body is in memory up to three times.
  expect(gibibytes * 2 ** 30).toBeGreaterThan(3 * bodies + 2 ** 29);
});
