// Reads the hosts from the URL of a database.

/** One URL per host, in order, from libpq's `postgres://user@host:port,host:port/name`. */
export function hostsOf(url: string): readonly string[] {
  const [, scheme = "", hosts = "", rest = ""] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  return scheme === "" ? [url] : hosts.split(",").map((host) => `${scheme}${host}${rest}`);
}
