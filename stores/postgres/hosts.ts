// The hosts of a database, as its URL names them.

/** One URL for each, in order; as libpq has it, of `postgres://user@host:port,host:port/name`. */
export function hostsOf(url: string): readonly string[] {
  const [, scheme = "", hosts = "", rest = ""] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  return scheme === "" ? [url] : hosts.split(",").map((host) => `${scheme}${host}${rest}`);
}
