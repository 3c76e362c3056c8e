import { expect, test } from "bun:test";
import { otherKey, sampleCertificate, sampleKey } from "../../testing/tls-sample.ts";
import { readTls } from "./tls.ts";

const files: Readonly<Record<string, string>> = {
  cert: sampleCertificate,
  key: sampleKey,
  other: otherKey,
  text: "no PEM",
};

function read(tlsCert: string, tlsKey: string) {
  return readTls({ tlsCert, tlsKey }, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error("no such file");
    return text;
  });
}

test("tls: without files there is none", () => {
  expect(read("", "")).toEqual({ ok: true, tls: null });
});

test("tls: a certificate and its own key are accepted", () => {
  expect(read("cert", "key")).toEqual({
    ok: true,
    tls: { cert: sampleCertificate, key: sampleKey },
  });
});

test.each([
  [
    "none",
    "key",
    ['--tls-cert is invalid; expected a certificate in PEM, got "none": no such file'],
  ],
  ["key", "key", ['--tls-cert is invalid; expected a certificate in PEM, got "key"']],
  [
    "text",
    "none",
    [
      '--tls-cert is invalid; expected a certificate in PEM, got "text"',
      '--tls-key is invalid; expected a private key in PEM without a password, got "none": no such file',
    ],
  ],
  [
    "cert",
    "cert",
    ['--tls-key is invalid; expected a private key in PEM without a password, got "cert"'],
  ],
  ["cert", "other", ["--tls-key is invalid; expected the key of --tls-cert"]],
])("tls: certificate %s with key %s is refused", (cert, key, faults) => {
  expect(read(cert, key)).toEqual({ ok: false, faults });
});
