// Paths of the same page in other locales. The default locale has no prefix. Query and hash are
// added when the link is pressed (`behaviours/links.ts`).

interface Locales {
  readonly current: string;
  readonly target: string;
  readonly standard: string;
}

export function localePath(path: string, { current, target, standard }: Locales): string {
  const prefix = `/${current}`;
  const isPrefixed = current !== standard && `${path}/`.startsWith(`${prefix}/`);
  const plain = isPrefixed ? path.slice(prefix.length) || "/" : path;
  return target === standard ? plain : `/${target}${plain === "/" ? "" : plain}`;
}
