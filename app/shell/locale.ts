// Addresses of the same page in other locales. The default locale has no prefix.

interface Address {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

interface Locales {
  readonly current: string;
  readonly target: string;
  readonly standard: string;
}

export function localePath(address: Address, { current, target, standard }: Locales): string {
  const prefix = `/${current}`;
  const { pathname, search, hash } = address;
  const isPrefixed = current !== standard && `${pathname}/`.startsWith(`${prefix}/`);
  const plain = isPrefixed ? pathname.slice(prefix.length) || "/" : pathname;
  const path = target === standard ? plain : `/${target}${plain === "/" ? "" : plain}`;
  return path + search + hash;
}
