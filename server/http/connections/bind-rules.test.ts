import { expect, test } from "bun:test";
import { type Exposure, exposureFaults, isLoopback } from "./bind-rules.ts";

const quiet: Exposure = {
  host: "127.0.0.1",
  apiKeysFile: "",
  insecure: false,
  tlsCert: "",
  tlsKey: "",
};

test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"])(
  "exposure: %s is this machine alone",
  (host) => {
    expect(isLoopback(host)).toBe(true);
    expect(exposureFaults({ ...quiet, host })).toEqual([]);
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
])("exposure: %s takes keys, or to be told twice", (host) => {
  expect(exposureFaults({ ...quiet, host })).toEqual([
    "host is open to other machines; expected --api-keys-file with it, or --insecure, or a " +
      `loopback address, got "${host}"`,
  ]);
  expect(exposureFaults({ ...quiet, host, insecure: true })).toEqual([]);
  expect(exposureFaults({ ...quiet, host, apiKeysFile: "keys" })).toEqual([]);
});

test("exposure: TLS alone keeps nobody out", () => {
  const tls = { tlsCert: "cert.pem", tlsKey: "key.pem" };
  expect(exposureFaults({ ...quiet, ...tls })).toEqual([]);
  expect(exposureFaults({ ...quiet, ...tls, host: "::" })).toHaveLength(1);
});

test("exposure: a certificate and its key come together", () => {
  expect(exposureFaults({ ...quiet, tlsCert: "c" })).toEqual([
    "TLS is half set up; expected --tls-key as well, got --tls-cert alone",
  ]);
  expect(exposureFaults({ ...quiet, tlsKey: "k" })).toEqual([
    "TLS is half set up; expected --tls-cert as well, got --tls-key alone",
  ]);
});
