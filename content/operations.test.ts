// The operators' pages against what they speak of: the metrics that a server exports, the
// alerts that are deployed, the lines that are logged, and the commands, which
// `samples.long.test.ts` runs.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { nodeMetrics } from "../server/testing/node-metrics.ts";
import { run } from "../server/testing/running-app.ts";
import { fencesOf } from "./testing/samples.ts";

const root = join(import.meta.dir, "..");
const page = readFileSync(join(import.meta.dir, "docs/operations.mdx"), "utf8");
const nodes = readFileSync(join(import.meta.dir, "docs/nodes.mdx"), "utf8");
const deployment = readFileSync(join(import.meta.dir, "docs/deployment.mdx"), "utf8");

/** The rows of the tables under a heading, cell by cell. */
function tableUnder(heading: string, text = page): string[][] {
  const [, section = ""] = text.split(`# ${heading}\n`);
  const lines = section.split("\n#")[0]?.split("\n") ?? [];
  const isRow = (line: string | undefined) => line?.startsWith("|") === true;
  // The first of a table is its head, and the second the line under it.
  const rows = lines.filter(
    (line, at) => isRow(line) && isRow(lines[at - 1]) && isRow(lines[at - 2]),
  );
  return rows.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function familiesIn(metrics: readonly string[]): readonly string[] {
  return metrics.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []);
}

/** What is logged by literal texts, with its level. */
function loggedIn(sources: string): readonly string[][] {
  const lines = sources.matchAll(/log\.(info|warn|error|fatal)\("([^"]+)"/g);
  return [...lines].map(([, level = "", event = ""]) => [event, level]);
}

/** Those of the server whose paths match. */
function sourcesIn(paths: RegExp): readonly string[] {
  return [...new Bun.Glob("server/**/*.ts").scanSync({ cwd: root })]
    .filter((file) => paths.test(file) && !/\.test\.ts$|\/(testing|simulation)\//.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"));
}

function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

test("operations: its metrics are those that a server exports, all of them", async () => {
  await using app = await run();
  const families = familiesIn(await app.metrics());
  const told = tableUnder("The metrics").flatMap(([names]) => codesIn(names));
  expect(families.length).toBeGreaterThan(20);
  expect(told.toSorted()).toEqual(families.toSorted());
});

test("operations: its alerts are those that are deployed, each with its severity", () => {
  const alerts = parse(readFileSync(join(root, "deploy/prometheus/alerts.yml"), "utf8"));
  const deployed = alerts.groups.flatMap(
    (group: { rules: { alert: string; labels: { severity: string } }[] }) =>
      group.rules.map(({ alert, labels }) => [alert, labels.severity]),
  );
  const told = tableUnder("The alerts").map(([name, severity]) => [codesIn(name)[0], severity]);
  expect(told.toSorted()).toEqual(deployed.toSorted());
});

test("operations: its log lines are those that the server logs, each with its level", () => {
  const serve = readFileSync(join(root, "cli/serve.ts"), "utf8");
  const sources = [serve, ...sourcesIn(/^server\/(?!nodes|calls)/)].join("\n");
  const named = loggedIn(sources);
  const [, notices = ""] = /const noticeTexts[^{]+\{([^}]+)\}/.exec(sources) ?? [];
  const warned = [...notices.matchAll(/:\s+"([^"]+)"/g)].map(([, event]) => [event, "warn"]);
  expect(warned).toHaveLength(8);
  const logged = [...new Map([...named, ...warned].map((line) => [line.join(), line])).values()];
  const told = tableUnder("What the log asks of you").map(([event, level]) => [
    codesIn(event)[0],
    level,
  ]);
  expect(told.toSorted()).toEqual(logged.toSorted());
});

test("nodes: its metrics are those that a node exports, and its alerts are there", async () => {
  const rows = tableUnder("What to watch", nodes);
  const told = rows
    .flatMap(([name]) => codesIn(name))
    .filter((name) => name.startsWith("holdfast"));
  const families = familiesIn(await nodeMetrics());
  expect(families.length).toBeGreaterThan(5);
  expect(told.toSorted()).toEqual(families.toSorted());
  const alerts = tableUnder("The alerts").flatMap(([name]) => codesIn(name));
  const named = nodes.match(/(?<=`)Holdfast[A-Z]\w+(?=`)/g) ?? [];
  expect(named).toHaveLength(4);
  for (const name of named) expect(alerts).toContain(name);
});

test("nodes: its log lines are those that a node logs besides, each with its level", () => {
  const sources = sourcesIn(/^server\/(nodes|calls)\//);
  const logged = loggedIn(sources.join("\n"));
  const rows = tableUnder("What to watch", nodes).filter(([, level]) =>
    /^[a-z]+$/.test(level ?? ""),
  );
  const told = rows.map(([event, level]) => [codesIn(event)[0], level]);
  expect(told.toSorted()).toEqual(logged.toSorted());
});

test("deployment: what it points to is there, or is a secret that its reader makes", () => {
  const paths = codesIn(deployment).filter((code) => /^deploy\/(?!secrets\/)/.test(code));
  expect(paths.length).toBeGreaterThan(4);
  for (const path of paths) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
});

/** Commands that the page or the first lines of `deploy/` name and that no test here runs. */
const notRun: Readonly<Record<string, string>> = {
  "docker build -f deploy/Dockerfile -t holdfast .":
    "needs a container engine and the base images; deploy.test.ts parses and lints the Dockerfile",
  "docker run --rm holdfast key NAME": "the image; its entry point is the executable, which is run",
  "docker run --rm holdfast key billing": "the same",
  "docker run -p 9090:9090 -v holdfast:/data -v /etc/holdfast:/etc/holdfast:ro -e HOLDFAST_API_KEYS_FILE=/etc/holdfast/api-keys holdfast":
    "the image; deploy.test.ts reads the configuration that it makes",
  "docker run -p 127.0.0.1:9090:9090 -v holdfast:/data -e HOLDFAST_INSECURE=true holdfast":
    "the same",
  "docker build -f deploy/Dockerfile -t holdfast:0.1.0 .": "the same, with a version",
  "docker run --rm holdfast:0.1.0 key billing": "the same",
  'kubectl create secret generic holdfast-backup-key --from-literal=key="$(docker run --rm holdfast:0.1.0 key backup --role admin)"':
    "the same; kubernetes.test.ts reads where the secret is used",
  "kubectl create secret generic holdfast-keys --from-file=api-keys":
    "needs a cluster; kubernetes.test.ts reads where the secret is mounted",
  "kubectl apply -f deploy/kubernetes/holdfast.yaml":
    "the same; kubernetes.test.ts holds the manifest against the image and the server",
  "docker compose -f deploy/compose.yaml up --build":
    "needs a container engine; deploy.test.ts parses the file and holds it against the server",
  "docker compose -f deploy/compose.nodes.yaml --env-file deploy/secrets/nodes.env up --build":
    "the same; nodes.long.test.ts",
  "kubectl create secret generic holdfast-database --from-file=url":
    "needs a cluster; nodes.long.test.ts reads where the secret is used",
  "kubectl apply -f deploy/kubernetes/nodes.yaml": "the same",
  "mkdir -p deploy/secrets/holdfast": "a folder in the checkout, as below",
  "docker compose exec holdfast /usr/local/bin/holdfast backup":
    "the same; `holdfast backup` is run",
  "systemctl enable --now holdfast":
    "would install a service; deploy.test.ts has systemd-analyze verify the unit",
  "mkdir -p /etc/holdfast": "a folder of the system",
  "systemctl restart holdfast": "needs the service",
  "systemctl edit holdfast": "opens an editor; deploy.test.ts starts with what the drop-in sets",
  "holdfast confirm-loss":
    "needs a database that has lost something; failover.long.test.ts has one, cli.long.test.ts the command",
  "holdfast reshard --data ./data --shards 4":
    "the data of a server that is stopped; cli/reshard.test.ts runs it",
  "holdfast reshard --database-url URL --shards 4": "the same",
  "bun start":
    "takes port 9090 and ./data; server/behaviour/process/start-and-stop.long.test.ts starts the same",
  "bun run bench": "measures for minutes; bench/*.test.ts run its parts",
  "mkdir -p deploy/secrets/holdfast deploy/secrets/prometheus":
    "folders in the checkout; deploy.test.ts looks that they are those that are mounted",
  "ulimit -n":
    "a setting of the shell; server/http/connections/open-files.test.ts has what it is about",
};

const isCommand = /^(\.\/holdfast|holdfast|bun|docker|kubectl|systemctl|ulimit|curl|mkdir) /;
const fences = fencesOf(page);
const inText = [page, deployment].flatMap((text) =>
  codesIn(text.replaceAll(/^```[\s\S]*?^```$/gm, "")),
);
/** Lines of the samples, which `samples.long.test.ts` runs. */
const ran = [...fences, ...fencesOf(deployment)]
  .filter(({ role }) => role !== "output")
  .flatMap(({ code }) => code.split("\n"));

/** The name of a command and its flags, whatever stands behind them and however it is reached. */
function formOf(command: string): { readonly name: string; readonly flags: readonly string[] } {
  const words = command.replace(/^(bun run( holdfast)?|(\.\/)?holdfast) /, "").split(" ");
  return { name: words[0] ?? "", flags: words.filter((word) => word.startsWith("--")) };
}

const forms = ran.map(formOf);

function isRun(command: string): boolean {
  const { name, flags } = formOf(command);
  return forms.some(
    (form) => form.name === name && flags.every((flag) => form.flags.includes(flag)),
  );
}

test("operations: every block is a command that is run, or the output that it is compared with", () => {
  const blocks = page.match(/^```\w+/gm) ?? [];
  expect(blocks.length).toBeGreaterThan(15);
  expect(fences).toHaveLength(blocks.length);
  for (const { role, lang } of fences) if (role !== "output") expect(lang).toBe("bash");
});

test("operations: each command in its text is run too, or is in the list of those that cannot be", () => {
  const named = [...new Set(inText.filter((code) => isCommand.test(code)))];
  expect(named).toContain("holdfast key NAME");
  const missing = named.filter((command) => !isRun(command) && notRun[command] === undefined);
  expect(missing).toEqual([]);
});

test("operations: so is each command in the first lines of what is deployed", () => {
  const files = [
    ...["deploy/Dockerfile", "deploy/compose.yaml", "deploy/systemd/holdfast.service"],
    ...["deploy/kubernetes/holdfast.yaml", "deploy/kubernetes/nodes.yaml"],
    "deploy/compose.nodes.yaml",
  ];
  const told = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const alone = [...text.matchAll(/^# {3}(\S.*)$/gm)].map(([, line = ""]) => line);
    const within = [...text.matchAll(/\b(?:systemctl|docker compose exec) [^,)\n]+/g)];
    return [...alone, ...within.map(([line]) => line)].filter((line) => isCommand.test(line));
  });
  const unknown = told.filter((command) => !isRun(command) && notRun[command] === undefined);
  expect(told.length).toBeGreaterThan(7);
  expect(unknown).toEqual([]);
  const all = new Set([...told, ...inText]);
  expect(Object.keys(notRun).filter((command) => !all.has(command))).toEqual([]);
});
