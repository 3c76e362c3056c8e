// Checks the deployment files against the server: a parser reads every file, and every metric,
// setting and version in it must exist.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { parse } from "yaml";
import { exitCodes } from "../cli/exit-codes.ts";
import { imageCommands, sentToImage } from "../scripts/image-build.ts";
import { findKey, newApiKey, parseApiKeys } from "../server/auth/api-keys.ts";
import { createAuthenticator } from "../server/auth/authenticator.ts";
import { readConfig } from "../server/config/config.ts";
import { configReference } from "../server/config/settings.ts";
import { createLog } from "../server/observability/log.ts";
import { knownKey } from "../server/testing/known-key.ts";
import { nodeMetrics } from "../server/testing/node-metrics.ts";
import { day, run, start } from "../server/testing/running-app.ts";
import { serverEnvironment } from "./environment.ts";

const here = import.meta.dir;
const root = join(here, "..");
const read = (file: string) => readFileSync(join(here, file), "utf8");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly packageManager: string;
  readonly scripts: Readonly<Record<string, string>>;
};
const variables = [...configReference().map(({ env }) => env), ...Object.keys(serverEnvironment)];

/** The faults that prevent a start with only this environment. */
function faultsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const result = readConfig({ argv: [], env, readFile: () => "" });
  return result.ok ? [] : result.faults;
}

/** Parses `NAME=value NAME=value`, or one pair per line. */
function pairsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/(HOLDFAST_\w+)=(\S+)/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
}

const imageEnvironment = pairsOf(/^ENV (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "");

test("`bun start`, the image and the unit give a server the same environment", () => {
  const [[name, value]] = Object.entries(serverEnvironment) as [[string, string]];
  const pair = `${name}=${value}`;
  expect(manifest.scripts["start"]).toStartWith(`${pair} bun `);
  expect(read("Dockerfile")).toContain(`\nENV ${pair}\n`);
  expect(read("systemd/holdfast.service")).toContain(`\nEnvironment=${pair}\n`);
});

describe("Dockerfile", () => {
  const text = read("Dockerfile");
  const instructions = DockerfileParser.parse(text).getInstructions();
  const named = (keyword: string) =>
    instructions.filter((instruction) => instruction.getKeyword() === keyword);
  const lastStage = instructions.slice(instructions.lastIndexOf(named("FROM").at(-1) as never));
  const inLastStage = (keyword: string) =>
    lastStage
      .filter((instruction) => instruction.getKeyword() === keyword)
      .map((instruction) => instruction.getArgumentsContent() ?? "");

  test("the linter finds nothing", () => {
    expect(validate(text)).toEqual([]);
  });

  test("it builds with the version of Bun that the project is tested with", () => {
    const version = manifest.packageManager.replace("bun@", "");
    expect(named("FROM")[0]?.getArgumentsContent()).toStartWith(`oven/bun:${version}-`);
    expect(text).not.toContain(":latest");
  });

  test("what it runs in the build is there", () => {
    const ran = named("RUN").map((instruction) => instruction.getArgumentsContent() ?? "");
    const scripts = ran.flatMap((line) => [...line.matchAll(/bun run ([\w:]+)/g)]);
    expect(scripts.map(([, name]) => name)).toEqual(["site:build", "compile"]);
    for (const [, name = ""] of scripts) expect(manifest.scripts).toHaveProperty(name);
    expect(ran[0]).toBe("bun scripts/setup.ts site");
    expect(imageCommands()).toEqual(ran);
  });

  test("the image is a user's without rights, with a volume, a health check and one program", () => {
    expect(inLastStage("USER")).toEqual(["65532:65532"]);
    expect(inLastStage("VOLUME")).toEqual(["/data"]);
    expect(inLastStage("EXPOSE")).toEqual(["9090"]);
    expect(inLastStage("ENTRYPOINT")).toEqual(['["/usr/local/bin/holdfast"]']);
    expect(inLastStage("HEALTHCHECK")[0]).toEndWith('["/usr/local/bin/holdfast", "healthcheck"]');
    expect(inLastStage("RUN")).toEqual([]);
    const copies = text.slice(text.lastIndexOf("\nFROM ")).match(/^COPY .*$/gm) ?? [];
    expect(copies.map((line) => line.startsWith("COPY --from=build "))).toEqual([true, true, true]);
    const set = inLastStage("ENV").flatMap((line) => [...line.matchAll(/(\w+)=/g)]);
    for (const [, variable] of set) expect(variables).toContain(variable ?? "");
  });
});

describe("the image", () => {
  const runs = [...read("Dockerfile").matchAll(/^#\s+docker run (.*)$/gm)].map(
    ([, words = ""]) => words,
  );

  test("without keys it does not start on all addresses unless --insecure is set", () => {
    expect(imageEnvironment).toEqual({ HOLDFAST_HOST: "0.0.0.0", HOLDFAST_DATA: "/data" });
    expect(faultsOf(imageEnvironment)).toEqual([
      "host is reachable from other machines; expected --api-keys-file, --insecure or a " +
        'loopback address, got "0.0.0.0"',
    ]);
  });

  test("each way to run it that it names starts, without keys on the loopback address only", () => {
    const [key, ...served] = runs;
    expect(key).toBe("--rm holdfast key billing");
    expect(served.map((words) => faultsOf({ ...imageEnvironment, ...pairsOf(words) }))).toEqual([
      [],
      [],
    ]);
    for (const words of served) {
      if (words.includes("INSECURE")) expect(words).toContain("-p 127.0.0.1:");
      else expect(words).toContain("-v /etc/holdfast:/etc/holdfast:ro");
    }
  });

  test("its build context has the files that it reads, and no secret", () => {
    const isSent = sentToImage();
    const compile = readFileSync(join(root, "scripts/compile.ts"), "utf8");
    const entries = [...compile.matchAll(/join\(root, "([\w/.-]+\.ts)"\)/g)].map(
      ([, path = ""]) => path,
    );
    expect(entries).toContain("deploy/executable.ts");
    // The pages include files of the checkout.
    const docs = readdirSync(join(root, "content/docs"), { recursive: true, encoding: "utf8" });
    const shown = docs
      .filter((file) => file.endsWith(".mdx"))
      .flatMap((file) => [
        ...readFileSync(join(root, "content/docs", file), "utf8").matchAll(/ file=(\S+)/g),
      ])
      .map(([, path = ""]) => path);
    expect(shown).toContain("deploy/Dockerfile");
    const needed = [...entries, ...shown, "app/build/after-build.ts", "bun.lock"];
    expect(needed.filter((path) => !isSent(path))).toEqual([]);
    const kept = ["deploy/secrets/prometheus/key", "data/shard-0.db", ".git/config"];
    expect(kept.filter(isSent)).toEqual([]);
  });
});

describe("compose.yaml", () => {
  interface Service {
    readonly image?: string;
    readonly build?: { readonly context: string; readonly dockerfile: string };
    readonly ports: readonly string[];
    readonly volumes: readonly string[];
    readonly environment?: Readonly<Record<string, unknown>>;
    readonly stop_grace_period?: string;
  }
  const compose = parse(read("compose.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: Readonly<Record<string, unknown>>;
  };
  const services = Object.entries(compose.services);

  test("every port is on the loopback address, every image has a version", () => {
    expect(services.map(([name]) => name)).toEqual(["holdfast", "prometheus", "grafana"]);
    for (const [, { ports, image }] of services) {
      for (const port of ports) expect(port).toStartWith("127.0.0.1:");
      if (image !== undefined) expect(image).toMatch(/^[\w/]+:v?\d+\.\d+\.\d+$/);
    }
  });

  test("what it mounts is there", () => {
    for (const [, { volumes }] of services) {
      for (const volume of volumes) {
        const [source = ""] = volume.split(":");
        // Created by the operator, as the first lines describe, and not committed.
        if (source.startsWith("./secrets/"))
          expect(read("compose.yaml")).toContain(`deploy${source.slice(1)}/`);
        else if (source.startsWith("./"))
          expect(() => readdirSync(join(here, source, ".."))).not.toThrow();
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
    const { build } = compose.services["holdfast"] as Service;
    expect(readFileSync(join(here, build?.context ?? "", build?.dockerfile ?? ""), "utf8")).toBe(
      read("Dockerfile"),
    );
  });

  test("the server is given settings that it has, and longer to stop than it takes", () => {
    const {
      environment = {},
      volumes,
      stop_grace_period,
    } = compose.services["holdfast"] as Service;
    // The folder exists in the image, owned by its user.
    expect(volumes).toContain(`backups:${environment["HOLDFAST_BACKUPS"]}`);
    expect(read("Dockerfile")).toContain(`/out/data ${environment["HOLDFAST_BACKUPS"]}\n`);
    for (const variable of Object.keys(environment)) expect(variables).toContain(variable);
    const texts = Object.entries(environment).map(([name, value]) => [name, String(value)]);
    expect(faultsOf({ ...imageEnvironment, ...Object.fromEntries(texts) })).toEqual([]);
    const waits = configReference().find(({ key }) => key === "shutdownTimeoutMs")?.default;
    expect(Number.parseInt(stop_grace_period ?? "", 10) * 1_000).toBeGreaterThan(Number(waits));
  });

  test("its allowed hosts admit Prometheus, by the name that it scrapes", async () => {
    const { scrape_configs } = parse(read("prometheus/prometheus.yml"));
    const [target] = scrape_configs[0].static_configs[0].targets;
    const name = String(compose.services["holdfast"]?.environment?.["HOLDFAST_ALLOWED_HOSTS"]);
    await using app = await run({ config: { host: "0.0.0.0", allowedHosts: [name] } });
    const answer = await app.through(app.send("/metrics", { headers: { host: target } }));
    expect(answer.status).toBe(200);
    await using closed = await run({ config: { host: "0.0.0.0" } });
    const reply = await closed.through(closed.send("/metrics", { headers: { host: target } }));
    expect(reply.status).toBe(403);
  });

  test("Prometheus finds its key where it is mounted, and it opens the metrics", async () => {
    const { scrape_configs } = parse(read("prometheus/prometheus.yml"));
    const { type, credentials_file } = scrape_configs[0].authorization;
    const mounted = (service: string) =>
      compose.services[service]?.volumes.map((volume) => volume.split(":")) ?? [];
    const folderOf = (file: string) => file.slice(0, file.lastIndexOf("/"));
    expect(mounted("prometheus")).toContainEqual([
      "./secrets/prometheus",
      folderOf(credentials_file),
      "ro",
    ]);
    const keysFile = String(compose.services["holdfast"]?.environment?.["HOLDFAST_API_KEYS_FILE"]);
    expect(mounted("holdfast")).toContainEqual(["./secrets/holdfast", folderOf(keysFile), "ro"]);

    const { key, line } = newApiKey("prometheus");
    const keys = parseApiKeys(line);
    if (!keys.ok) throw new Error(keys.fault);
    const authenticate = createAuthenticator({
      keys: { find: (given) => findKey(given, keys.keys) && knownKey("prometheus") },
      log: createLog({ level: "fatal" }),
      now: () => 0,
    });
    const scrape = (authorization: string) => () =>
      authenticate(
        new Request("http://holdfast:9090/metrics", { headers: { authorization } }),
        () => null,
      );
    expect(scrape(`${type} ${key}`)).not.toThrow();
    expect(scrape(key)).toThrow("authorization is invalid");
  });

  const docker = Bun.which("docker");
  const hasCompose =
    docker !== null && Bun.spawnSync([docker, "compose", "version"]).exitCode === 0;
  test.skipIf(!hasCompose)("docker compose takes it", () => {
    const command = [
      docker ?? "",
      "compose",
      "-f",
      join(here, "compose.yaml"),
      "config",
      "--quiet",
    ];
    const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  });
});

interface Selector {
  readonly metric: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** The metrics in an expression; throws if it is not PromQL. */
function selectorsOf(written: string): Selector[] {
  const expression = written.replaceAll("$__rate_interval", "5m");
  const selectors: Selector[] = [];
  const labels: Map<string, string>[] = [];
  let label = "";
  parser.parse(expression).iterate({
    enter: ({ type, name, from, to }) => {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`no PromQL; ${expression} at ${from}`);
      if (name === "VectorSelector") labels.push(new Map());
      if (name === "Identifier") {
        selectors.push({ metric: text, labels: labels.at(-1) ?? new Map() });
      }
      if (name === "LabelName") label = text;
      if (name === "StringLiteral") labels.at(-1)?.set(label, text.slice(1, -1));
    },
  });
  return selectors;
}

/** The metrics of a server after a variety of calls, and of a node, by name. */
async function exported(): Promise<Map<string, Set<string>[]>> {
  await using app = await run({
    orders: { max_attempts: 1, leased_max: 5, lease_rate: "100/1s" },
  });
  await app.produce("a");
  await app.complete(await app.lease());
  await app.produce("b");
  await app.call("produce", {
    queue_name: "orders",
    request_timeout: "1m",
    items: [{ utf8: "c", enqueue_at: new Date(start + day).toISOString() }],
  });
  const metrics = new Map<string, Set<string>[]>();
  for (const line of [...(await app.metrics()), ...(await nodeMetrics())]) {
    const [, metric, labels = ""] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(
      ([, key, value]) => `${key}=${value}`,
    );
    metrics.set(metric, [...(metrics.get(metric) ?? []), new Set(pairs)]);
  }
  return metrics;
}

/** Labels that Prometheus adds, and its own metric for each scrape. */
const ofPrometheus = ["instance", "job"];

async function expectExported(expressions: readonly string[]): Promise<void> {
  const metrics = await exported();
  const selectors = expressions.flatMap(selectorsOf);
  expect(selectors.length).toBeGreaterThanOrEqual(expressions.length);
  for (const { metric, labels } of selectors) {
    if (metric === "up") continue;
    const series = metrics.get(metric);
    expect([metric, series !== undefined]).toEqual([metric, true]);
    for (const [label, value] of labels) {
      if (ofPrometheus.includes(label) || label === "code" || label === "operation") continue;
      for (const one of value.split("|")) {
        const has = series?.some((pairs) => pairs.has(`${label}=${one}`));
        expect([metric, label, one, has]).toEqual([metric, label, one, true]);
      }
    }
  }
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const rules = (
  parse(read("prometheus/alerts.yml")) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);

describe("Prometheus", () => {
  test("scrapes by the address of compose.yaml and loads the alerts", () => {
    const config = parse(read("prometheus/prometheus.yml"));
    expect(config.rule_files).toEqual(["alerts.yml"]);
    expect(config.scrape_configs).toMatchObject([{ job_name: "holdfast" }]);
  });

  test("every alert uses metrics that a running server has", async () => {
    expect(rules.length).toBeGreaterThan(10);
    await expectExported(rules.map(({ expr }) => expr));
  });

  test("every alert has a name of its own, a severity and a sentence", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations, for: time = "1m" } of rules) {
      expect(alert).toMatch(/^Holdfast[A-Z]\w+$/);
      expect(["page", "ticket"]).toContain(labels.severity);
      expect(annotations.summary).toEndWith(".");
      expect(time).toMatch(/^\d+[sm]$/);
    }
  });

  test("an expression with an unknown metric would be found", async () => {
    const fails = async (expression: string) =>
      expect(
        expectExported([expression]).then(
          () => "passed",
          () => "failed",
        ),
      ).resolves.toBe("failed");
    await fails("sum(holdfast_jobs)");
    await fails('holdfast_items{state="ready"}');
    await fails('holdfast_queue_items_total{event=~"dead|buried"}');
    await fails("sum(holdfast_items");
  });

  const promtool = Bun.which("promtool");
  test.skipIf(promtool === null)("promtool takes the configuration and the rules", () => {
    for (const [file, ...kind] of [
      ["alerts.yml", "rules"],
      // The key file does not exist yet.
      ["prometheus.yml", "config", "--syntax-only"],
    ]) {
      const command = [promtool ?? "", "check", ...kind, join(here, "prometheus", file ?? "")];
      const { exitCode, stderr } = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
      expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    }
  });
});

describe("Grafana", () => {
  interface Panel {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly gridPos: {
      readonly x: number;
      readonly y: number;
      readonly w: number;
      readonly h: number;
    };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }
  const dashboard = JSON.parse(read("grafana/holdfast.json")) as {
    readonly title: string;
    readonly uid: string;
    readonly schemaVersion: number;
    readonly panels: readonly Panel[];
  };
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  test("every panel uses metrics that a running server has", async () => {
    expect(panels.length).toBeGreaterThan(20);
    await expectExported(expressions.map((expr) => expr.replaceAll('=~"$instance"', '=~".*"')));
  });

  test("every metric of the server is on it", async () => {
    const used = new Set(expressions.flatMap(selectorsOf).map(({ metric }) => metric));
    const families = [...(await exported()).keys()].map((name) =>
      name.replace(/_(bucket|sum|count)$/, ""),
    );
    const shown = [...used].map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    expect([...new Set(families)].filter((name) => !shown.includes(name))).toEqual([]);
  });

  test("panels have ids and titles of their own and do not lie upon one another", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { gridPos } of dashboard.panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect([x < 24, taken.has(`${x}/${y}`)]).toEqual([true, false]);
          taken.add(`${x}/${y}`);
        }
      }
    }
  });

  test("it is provisioned with its data source", () => {
    const { datasources } = parse(read("grafana/datasource.yml"));
    expect(datasources).toMatchObject([{ type: "prometheus", url: "http://prometheus:9090" }]);
    const { providers } = parse(read("grafana/dashboards.yml"));
    expect(read("compose.yaml")).toContain(
      `holdfast.json:${providers[0].options.path}/holdfast.json`,
    );
  });
});

describe("systemd", () => {
  const unit = read("systemd/holdfast.service");
  const values = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value]) => value ?? "");

  test("systemd: an exit that needs an operator does not restart the service", () => {
    const { usage, taken } = exitCodes;
    expect(values("RestartPreventExitStatus")).toEqual([`${usage.code} ${taken.code}`]);
    expect(values("Restart")).toEqual(["on-failure"]);
  });

  test("the server is given settings that it has, and longer to stop than it takes", () => {
    for (const setting of values("Environment")) {
      expect(variables).toContain(setting.split("=")[0] ?? "");
    }
    const waits = configReference().find(({ key }) => key === "shutdownTimeoutMs")?.default;
    expect(Number(values("TimeoutStopSec")[0]) * 1_000).toBeGreaterThan(Number(waits));
  });

  test("the unit starts as it is, and with the keys and the certificate of its first lines", () => {
    const set = pairsOf(values("Environment").join("\n"));
    expect(faultsOf(set)).toEqual([]);
    const named = pairsOf(unit.slice(0, unit.indexOf("[Unit]")));
    expect(Object.keys(named)).toEqual([
      "HOLDFAST_HOST",
      "HOLDFAST_ALLOWED_HOSTS",
      "HOLDFAST_API_KEYS_FILE",
      "HOLDFAST_TLS_CERT",
      "HOLDFAST_TLS_KEY",
    ]);
    expect(faultsOf({ ...set, ...named })).toEqual([]);
    expect(faultsOf({ ...set, HOLDFAST_HOST: "0.0.0.0" })).toHaveLength(1);
  });

  const analyze = Bun.which("systemd-analyze");
  test.skipIf(analyze === null)("systemd takes the unit and finds little exposed", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-unit-"));
    try {
      const file = join(folder, "holdfast.service");
      // The tool checks that the program exists.
      writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
      const verify = Bun.spawnSync([analyze ?? "", "verify", "--man=no", file], { stderr: "pipe" });
      const ours = verify.stderr
        .toString()
        .split("\n")
        .filter((line) => line.includes("holdfast"));
      expect([verify.exitCode, ours]).toEqual([0, []]);
      const exposureMax = "20";
      const command = [
        analyze ?? "",
        "security",
        "--offline=true",
        `--threshold=${exposureMax}`,
        file,
      ];
      const security = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
      expect([security.exitCode, security.stderr.toString()]).toEqual([0, ""]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
