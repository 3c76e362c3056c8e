import { expect, test } from "bun:test";
import { hostsOf } from "./hosts.ts";

test.each([
  ["postgres://host/name", ["postgres://host/name"]],
  [
    "postgresql://user:word@one:5432,two:5433/name?ssl=1",
    ["postgresql://user:word@one:5432/name?ssl=1", "postgresql://user:word@two:5433/name?ssl=1"],
  ],
  ["postgres://a:x,y@one,two/name", ["postgres://a:x,y@one/name", "postgres://a:x,y@two/name"]],
  ["postgres://[::1]:5432,two", ["postgres://[::1]:5432", "postgres://two"]],
])("hosts: %s", (url, hosts) => {
  expect(hostsOf(url)).toEqual(hosts);
});
