import { usePathname } from "../shell/use-pathname.ts";

/** The entry that the last part of the address names, by the pattern's group. */
export function useNamed<T extends { readonly name: string }>(
  entries: readonly T[],
  pattern: RegExp,
): T {
  const pathname = usePathname();
  const name = pattern.exec(pathname)?.[1];
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new Error(`there is no page for '${pathname}'`);
  return entry;
}
