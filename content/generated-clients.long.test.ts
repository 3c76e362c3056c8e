// Clients that three generators make of the API's description, in calls to a server with keys. Their
// programs and settings are those of the page. A later version's words and fields must not break them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import { documentText } from "../openapi/document.ts";
import { createAuthenticator } from "../server/auth/authenticator.ts";
import { knownKey } from "../server/testing/known-key.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { silentLog } from "../server/testing/memory-engine.ts";

const samples = join(import.meta.dir, "generated-clients");
const python = Bun.which("python3");
const go = Bun.which("go");

/** A generator and its program's libraries are fetched. */
const makeTimeoutMs = 5 * 60_000;
const apiKey = "a".repeat(32);
const folder = mkdtempSync(join(tmpdir(), "holdfast-generated-"));
let server: ListeningApp;

const printed = `produce 200
lease 1 item
complete 200
complete again 453 not_leased
lease again 454 empty
a wrong key 401 unauthorized
`;

beforeAll(async () => {
  writeFileSync(join(folder, "openapi.json"), documentText({ hasKeys: true }));
  const known = knownKey("generated");
  const keys = { find: (key: string) => (key === apiKey ? known : null) };
  server = await listeningApp(
    {},
    { authenticate: createAuthenticator({ keys, log: silentLog, now: () => 0 }) },
  );
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves with what it printed; throws with all of its output where it fails. */
async function run(argv: readonly string[], cwd: string): Promise<string> {
  const child = Bun.spawn([...argv], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 0) return out;
  throw new Error(`${argv.join(" ")} failed\n${out}${error}`);
}

/** The program's words: where the server is, its queue, and the key. */
async function words(queue: string): Promise<readonly string[]> {
  await createClient({ url: server.url, apiKey })
    .queue(queue)
    .create({ lease_timeout: "1m", expire_timeout: "1h" });
  return [server.url, queue, apiKey];
}

/** Python packages in a folder of their own, whose programs it resolves with. */
async function installed(name: string, ...packages: readonly string[]): Promise<string> {
  const env = join(folder, name);
  await run([python ?? "", "-m", "venv", env], folder);
  await run([join(env, "bin/pip"), "install", "--quiet", ...packages], folder);
  return join(env, "bin");
}

/** A folder with files of the page. */
function workplace(name: string, ...files: readonly string[]): string {
  const place = join(folder, name);
  mkdirSync(place);
  for (const file of files) cpSync(join(samples, file), join(place, file));
  return place;
}

describe.if(python !== null)("Python", () => {
  test(
    "openapi-python-client",
    async () => {
      const bin = await installed("opc-env", "openapi-python-client==0.29.1");
      const place = workplace("opc", "openapi-python-client.yml", "generated_client.py");
      const generate = [
        ...[join(bin, "openapi-python-client"), "generate", "--path", "../openapi.json"],
        ...["--config", "openapi-python-client.yml", "--meta", "none", "--output-path", "holdfast"],
      ];
      await run(generate, place);
      const program = [join(bin, "python"), "generated_client.py", ...(await words("opc"))];
      expect(await run(program, place)).toBe(printed);
    },
    makeTimeoutMs,
  );

  test(
    "datamodel-code-generator, for pydantic",
    async () => {
      const bin = await installed("pydantic-env", "datamodel-code-generator==0.89.0");
      const place = workplace("pydantic", "generated_models.py");
      const generate = [
        ...[join(bin, "datamodel-codegen"), "--input", "../openapi.json"],
        ...["--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel"],
        ...["--output", "models.py"],
      ];
      await run(generate, place);
      const program = [join(bin, "python"), "generated_models.py", ...(await words("pydantic"))];
      expect(await run(program, place)).toBe(printed);
      const later = { code: 453, code_text: "", message: "", reason: "a_new_word", a_new_field: 1 };
      const read = `import models; print(models.Reply(**${JSON.stringify(later)}).reason)`;
      expect(await run([join(bin, "python"), "-c", read], place)).toBe("a_new_word\n");
    },
    makeTimeoutMs,
  );
});

describe.if(go !== null)("Go", () => {
  test(
    "ogen",
    async () => {
      const place = workplace("ogen", "ogen.yml", "main.go");
      writeFileSync(join(place, "go.mod"), "module example.com/worker\n\ngo 1.25\n");
      const ogen = "github.com/ogen-go/ogen/cmd/ogen@v1.24.0";
      const generate = [
        ...[go ?? "", "run", ogen, "--config", "ogen.yml", "--target", "holdfast"],
        ...["--package", "holdfast", "--clean", "../openapi.json"],
      ];
      await run(generate, place);
      await run([go ?? "", "mod", "tidy"], place);
      expect(await run([go ?? "", "run", ".", ...(await words("ogen"))], place)).toBe(printed);
    },
    makeTimeoutMs,
  );
});
