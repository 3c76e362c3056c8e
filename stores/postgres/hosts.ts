// The hosts of a database, as its URL names them.

/** One URL for each, in order; of `URL,URL` or, as libpq has it, of `postgres://user@host:port,host:port/name`. */
export function hostsOf(urls: string): readonly string[] {
  return urls.split(/,\s*(?=postgres(?:ql)?:\/\/)/).flatMap((url) => {
    const [, scheme = "", hosts = "", rest = ""] =
      /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
    return scheme === "" ? [url] : hosts.split(",").map((host) => `${scheme}${host}${rest}`);
  });
}
