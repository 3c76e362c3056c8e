// Checks the files for three nodes on one PostgreSQL against the server.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { parseDuration } from "../engine/model/duration.ts";
import { limits } from "../engine/model/limits.ts";
import { pages } from "../openapi/operations.ts";
import manifest from "../package.json" with { type: "json" };
import { readConfig } from "../server/config/config.ts";
import { configReference } from "../server/config/settings.ts";
import { run } from "../server/testing/running-app.ts";

const read = (file: string) => readFileSync(join(import.meta.dir, file), "utf8");
const dockerfile = read("Dockerfile");
const port = Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]);
const imageEnvironment = Object.fromEntries(
  [...(/^ENV (HOLDFAST_.*)$/m.exec(dockerfile)?.[1] ?? "").matchAll(/(\w+)=(\S+)/g)].map(
    ([, name = "", value = ""]) => [name, value],
  ),
);
const settings = configReference();
const known = settings.map(({ env }) => env);
const defaultOf = (key: string) => settings.find((row) => row.key === key)?.default ?? "";
const stopMs = Number(defaultOf("shutdownTimeoutMs"));
const lease = parseDuration(defaultOf("ownershipLease"));
const leaseMs = lease.ok ? lease.ms : Number.NaN;

/** The settings of a server in the image with this additional environment. */
function configOf(env: Readonly<Record<string, string>>) {
  const given = { ...imageEnvironment, ...env };
  const result = readConfig({ argv: [], env: given, readFile: () => "" });
  if (!result.ok) throw new Error(result.faults.join("\n"));
  return result.config;
}

const milliseconds = (text: string): number => {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new Error(`no duration; ${text}`);
  return parsed.ms;
};

describe("compose.nodes.yaml", () => {
  interface Service {
    readonly image: string;
    readonly ports?: readonly string[];
    readonly volumes?: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
    readonly depends_on?: unknown;
    readonly stop_grace_period?: string;
  }
  const text = read("compose.nodes.yaml");
  const compose = parse(text, { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: Readonly<Record<string, unknown>>;
  };
  const { postgres, holdfast: balancer, ...nodes } = compose.services;
  const balance = read("haproxy/haproxy.cfg");
  const password = "0123abcd";
  /** The value as filled in by compose. */
  const filled = (value: string) => value.replaceAll(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/g, password);
  const configs = Object.entries(nodes).map(([name, { environment }]) => {
    const settings = Object.entries(environment).map(([key, value]) => [key, filled(value)]);
    return [name, configOf(Object.fromEntries(settings))] as const;
  });

  test("it has three nodes, which differ only in their node URL", () => {
    expect(configs).toHaveLength(3);
    const [[, first]] = configs as [(typeof configs)[number]];
    for (const [name, config] of configs) {
      expect(config.nodeUrl).toBe(`http://${name}:${port}`);
      expect({ ...config, nodeUrl: "" }).toEqual({ ...first, nodeUrl: "" });
      expect(config.port).toBe(port);
      // The number of a new cluster, or the recorded one.
      expect(config.shards).toBeUndefined();
    }
    for (const { environment, image } of Object.values(nodes)) {
      for (const variable of Object.keys(environment)) expect(known).toContain(variable);
      expect(image).toBe(`holdfast:${manifest.version}`);
    }
  });

  test("the database is the one that it starts, and its password is not in the file", () => {
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD = "" } = postgres?.environment ?? {};
    const [, config] = configs[0] ?? [];
    const url = new URL(config?.databaseUrl[0] ?? "");
    expect([url.username, url.pathname, url.hostname]).toEqual([
      POSTGRES_USER ?? "",
      `/${POSTGRES_DB}`,
      "postgres",
    ]);
    expect([url.password, filled(POSTGRES_PASSWORD)]).toEqual([password, password]);
    expect(text).toContain("\n#   printf 'POSTGRES_PASSWORD=");
    for (const { depends_on } of Object.values(nodes)) {
      expect(depends_on).toEqual({ postgres: { condition: "service_healthy" } });
    }
    expect(postgres?.volumes).toEqual([`${Object.keys(compose.volumes)[0]}:/var/lib/postgresql`]);
  });

  test("a node gets longer to stop than it takes", () => {
    for (const { stop_grace_period = "" } of Object.values(nodes)) {
      expect(milliseconds(stop_grace_period)).toBeGreaterThan(stopMs);
    }
  });

  test("one address is open, on the loopback, and leads to every node", () => {
    const open = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    const [, bound] = /^ {4}bind :(\d+)$/m.exec(balance) ?? [];
    expect(open).toEqual([`127.0.0.1:${port}:${bound}`]);
    expect(balancer?.volumes).toEqual(["./haproxy:/usr/local/etc/haproxy:ro"]);
    const servers = [...balance.matchAll(/^ {4}server (\S+) (\S+):(\d+)$/gm)];
    expect(servers.map(([, name, host]) => [name, host])).toEqual(
      Object.keys(nodes).map((name) => [name, name]),
    );
    expect(servers.map(([, , , to]) => Number(to))).toEqual([port, port, port]);
    for (const image of [balancer?.image, postgres?.image]) expect(image).toMatch(/:\d+(\.\d+)+$/);
  });

  test("the balancer's checks are answered by the nodes, under a host that they allow", async () => {
    const check = /http-check send meth GET uri (\S+) hdr Host (\S+)/.exec(balance);
    const [, path = "", host = ""] = check ?? [];
    expect(path).toBe(pages.readyz.path);
    const [, { allowedHosts }] = configs[0] as (typeof configs)[number];
    await using app = await run({ config: { host: "0.0.0.0", allowedHosts } });
    // Through the loopback port, and from other services in the file.
    for (const name of [host, `localhost:${port}`, `127.0.0.1:${port}`, `holdfast:${port}`]) {
      const answer = await app.through(app.send(path, { headers: { host: name } }));
      expect([name, answer.status]).toEqual([name, 200]);
    }
    expect(Object.keys(compose.services)).toContain("holdfast");
  });

  test("the balancer waits for the longest call, and lets a takeover pass", () => {
    for (const side of ["client", "server"]) {
      const [, wait = ""] = new RegExp(`timeout ${side} (\\S+)`).exec(balance) ?? [];
      expect(milliseconds(wait)).toBeGreaterThan(limits.requestTimeoutMsMax);
    }
    const [, every = "", count] = /check inter (\S+) fall (\d+)/.exec(balance) ?? [];
    expect(milliseconds(every) * Number(count)).toBeGreaterThan(leaseMs);
    // The load balancer must not repeat a call that may have taken effect.
    expect(/retry-on (.*)$/m.exec(balance)?.[1]).toBe("conn-failure");
  });

  const haproxy = Bun.which("haproxy");
  test.skipIf(haproxy === null)("HAProxy takes its configuration", () => {
    const command = [haproxy ?? "", "-c", "-f", join(import.meta.dir, "haproxy/haproxy.cfg")];
    const { exitCode, stdout } = Bun.spawnSync(command, { stdout: "pipe" });
    expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining("valid")]);
  });
});

describe("kubernetes/nodes.yaml", () => {
  interface Probe {
    readonly httpGet: { readonly path: string; readonly port: string };
    readonly periodSeconds: number;
    readonly failureThreshold: number;
  }
  interface Variable {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef?: { readonly name: string; readonly key: string };
      readonly fieldRef?: { readonly fieldPath: string };
    };
  }
  const text = read("kubernetes/nodes.yaml");
  const documents = parseAllDocuments(text);
  const [service, budget, deployment] = documents.map((document) => document.toJS());
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const variables: readonly Variable[] = container.env;
  const named = (name: string) => variables.find((variable) => variable.name === name);
  const podIp = "10.0.0.7";
  const fields: Readonly<Record<string, string>> = {
    "status.podIP": podIp,
    "metadata.namespace": "jobs",
  };

  /** The environment as built by the kubelet: a reference resolves only to earlier variables. */
  function environment(): Record<string, string> {
    const made: Record<string, string> = {};
    for (const { name, value, valueFrom } of variables) {
      const found = fields[valueFrom?.fieldRef?.fieldPath ?? ""];
      const secret = valueFrom?.secretKeyRef ? "postgres://holdfast:secret@database/holdfast" : "";
      made[name] = (value ?? found ?? secret).replaceAll(
        /\$\((\w+)\)/g,
        (reference, other: string) => made[other] ?? reference,
      );
    }
    return made;
  }

  test("it is a service, a budget and three nodes behind it, in YAML without a fault", () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect([service.kind, budget.kind, deployment.kind]).toEqual([
      "Service",
      "PodDisruptionBudget",
      "Deployment",
    ]);
    const { labels } = deployment.spec.template.metadata;
    expect(service.spec.selector).toEqual(labels);
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(budget.spec.selector.matchLabels).toEqual(labels);
    expect([deployment.spec.replicas, budget.spec.maxUnavailable]).toEqual([3, 1]);
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  test("every setting is one that there is, and the server starts with them as a node", () => {
    for (const { name } of variables) if (!name.startsWith("POD_")) expect(known).toContain(name);
    const config = configOf(environment());
    expect(config).toMatchObject({
      host: "0.0.0.0",
      store: "postgres",
      nodeUrl: `http://${podIp}:${port}`,
    });
    expect(config.shards).toBeUndefined();
  });

  test("secrets come from where its first lines put them", () => {
    const secret = named("HOLDFAST_DATABASE_URL")?.valueFrom?.secretKeyRef;
    expect(text).toContain(`create secret generic ${secret?.name} --from-file=${secret?.key}\n`);
    const [volume] = pod.volumes;
    expect(text).toContain(
      `create secret generic ${volume.secret.secretName} --from-file=api-keys`,
    );
    const [mount] = container.volumeMounts;
    expect(named("HOLDFAST_API_KEYS_FILE")?.value).toBe(`${mount.mountPath}/api-keys`);
    expect(mount.name).toBe(volume.name);
  });

  test("user, port and version are those of the image", () => {
    const { runAsUser, runAsGroup } = pod.securityContext;
    expect(dockerfile).toContain(`\nUSER ${runAsUser}:${runAsGroup}\n`);
    expect(container.ports).toEqual([{ name: "http", containerPort: port }]);
    expect(service.spec.ports).toEqual([{ name: "http", port, targetPort: "http" }]);
    expect(container.image).toBe(`holdfast:${manifest.version}`);
  });

  test("its probes are answered, and so are clients by the names that they use", async () => {
    const { readinessProbe, livenessProbe }: Record<string, Probe> = container;
    expect(readinessProbe?.httpGet.path).toBe(pages.readyz.path);
    expect(livenessProbe?.httpGet.path).toBe(pages.livez.path);
    const { allowedHosts } = configOf(environment());
    const { name } = service.metadata;
    expect(allowedHosts).toEqual([
      ...[name, `${name}.jobs`, `${name}.jobs.svc`, `${name}.jobs.svc.cluster.local`],
    ]);
    await using app = await run({ config: { host: "0.0.0.0", allowedHosts } });
    for (const probe of [readinessProbe, livenessProbe]) {
      expect(probe?.httpGet.port).toBe("http");
      const headers = { host: `${podIp}:${port}` };
      const answer = await app.through(app.send(probe?.httpGet.path ?? "", { headers }));
      expect(answer.status).toBe(200);
    }
    for (const host of allowedHosts) {
      const headers = { host: `${host}:${port}` };
      const answer = await app.through(app.send(pages.readyz.path, { headers }));
      expect([host, answer.status]).toEqual([host, 200]);
    }
  });

  test("a takeover passes before a node is taken out of the service", () => {
    const { periodSeconds, failureThreshold }: Probe = container.readinessProbe;
    expect(periodSeconds * failureThreshold * 1_000).toBeGreaterThan(leaseMs);
  });

  test("a stop gets more time than all that it consists of", () => {
    const preStopMs = container.lifecycle.preStop.sleep.seconds * 1_000;
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(preStopMs + stopMs);
  });
});
