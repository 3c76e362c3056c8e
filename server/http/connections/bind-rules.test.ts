import { expect, test } from "bun:test";
import { type BindSettings, bindFaults, isLoopback } from "./bind-rules.ts";

const quiet: BindSettings = {
  host: "127.0.0.1",
  apiKeysFile: "",
  insecure: false,
  tlsCert: "",
  tlsKey: "",
};

test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"])(
  "bind rules: %s is a loopback address",
  (host) => {
    expect(isLoopback(host)).toBe(true);
    expect(bindFaults({ ...quiet, host })).toEqual([]);
  },
);

test.each([
  "0.0.0.0",
  "::",
  "10.0.0.1",
  "localhost.example",
  "127.example",
  "127.0.0.1.example",
  "128.0.0.1",
  "::2",
  "queue.example",
])("bind rules: %s needs keys or --insecure", (host) => {
  expect(bindFaults({ ...quiet, host })).toEqual([
    "host is reachable from other machines; expected --api-keys-file, --insecure or a " +
      `loopback address, got "${host}"`,
  ]);
  expect(bindFaults({ ...quiet, host, insecure: true })).toEqual([]);
  expect(bindFaults({ ...quiet, host, apiKeysFile: "keys" })).toEqual([]);
});

test("bind rules: TLS alone does not authenticate", () => {
  const tls = { tlsCert: "cert.pem", tlsKey: "key.pem" };
  expect(bindFaults({ ...quiet, ...tls })).toEqual([]);
  expect(bindFaults({ ...quiet, ...tls, host: "::" })).toHaveLength(1);
});

test("bind rules: a certificate and its key are needed together", () => {
  expect(bindFaults({ ...quiet, tlsCert: "c" })).toEqual([
    "TLS is incomplete; expected --tls-key too, got only --tls-cert",
  ]);
  expect(bindFaults({ ...quiet, tlsKey: "k" })).toEqual([
    "TLS is incomplete; expected --tls-cert too, got only --tls-key",
  ]);
});
