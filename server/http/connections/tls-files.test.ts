import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { Elysia } from "elysia";
import type { App } from "../../app.ts";
import type { Log } from "../../observability/log.ts";
import {
  renewedCertificate,
  renewedKey,
  sampleCertificate,
  sampleKey,
} from "../../testing/tls-sample.ts";
import { listen } from "./listen.ts";
import type { Tls } from "./tls.ts";
import { watchTls } from "./tls-files.ts";

function setup() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
  const files = { tlsCert: join(folder, "cert"), tlsKey: join(folder, "key") };
  writeFileSync(files.tlsCert, sampleCertificate);
  writeFileSync(files.tlsKey, sampleKey);
  const logged: string[] = [];
  const renewed: Tls[] = [];
  const note = (message: string): void => void logged.push(message);
  const log: Log = { debug: note, info: note, warn: note, error: note, fatal: note };
  const check = watchTls({
    files,
    readFile: (path) => readFileSync(path, "utf8"),
    renew: (tls) => void renewed.push(tls),
    log,
  });
  const [former, read] = [
    "failed to reload TLS files; keeping the current ones",
    "reloaded TLS files",
  ];
  return {
    files,
    logged,
    renewed,
    check,
    former,
    read,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

test("tls: unchanged files are not reloaded", () => {
  using watch = setup();
  watch.check();
  expect([watch.logged, watch.renewed]).toEqual([[], []]);
});

test("tls: a renewed certificate is loaded once its key is there too", () => {
  using watch = setup();
  writeFileSync(watch.files.tlsCert, renewedCertificate);
  watch.check();
  watch.check();
  expect([watch.logged, watch.renewed]).toEqual([[watch.former], []]);
  writeFileSync(watch.files.tlsKey, renewedKey);
  watch.check();
  watch.check();
  expect(watch.logged).toEqual([watch.former, watch.read]);
  expect(watch.renewed).toEqual([{ cert: renewedCertificate, key: renewedKey }]);
});

/** The certificate that a new connection receives. */
function shown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(raw.toString("base64"));
    });
    socket.on("error", reject);
  });
}

function base64Of(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
}

test("renew: new connections get the new certificate, and a request that waits its answer", async () => {
  let answer = (_: string): void => undefined;
  const [waits, begun] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  answer = waits.resolve;
  const app = new Elysia().get("/", () => {
    begun.resolve();
    return waits.promise;
  });
  const tls = { cert: sampleCertificate, key: sampleKey };
  const listening = listen(app as unknown as App, { host: "127.0.0.1", port: 0, tls });
  const { port } = new URL(listening.url);
  const waiting = fetch(listening.url, { tls: { rejectUnauthorized: false } });
  await begun.promise;
  expect(await shown(Number(port))).toBe(base64Of(sampleCertificate));
  listening.renew({ cert: renewedCertificate, key: renewedKey });
  expect(await shown(Number(port))).toBe(base64Of(renewedCertificate));
  answer("there");
  expect(await (await waiting).text()).toBe("there");
  await listening.stop(5_000);
  await expect(shown(Number(port))).rejects.toThrow();
});
