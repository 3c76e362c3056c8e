import type { Page } from "playwright-core";

interface Fiber {
  readonly key: string | null;
  readonly type: unknown;
  readonly child: Fiber | null;
  readonly sibling: Fiber | null;
}

/**
 * Siblings with the same key, as React has them in the page. It keeps the first of such two in the
 * document for ever, with the data of before.
 */
export function twinsOn(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const root = document.getElementById("root") ?? document.body;
    const name = Object.keys(root).find((key) => key.startsWith("__reactContainer$"));
    if (name === undefined) throw new Error("React has no root in this page");
    const { stateNode } = (root as unknown as Record<string, { stateNode: { current: Fiber } }>)[
      name
    ] ?? { stateNode: null };
    const found: string[] = [];
    const open: (Fiber | null)[] = [stateNode?.current ?? null];
    while (open.length > 0) {
      const parent = open.pop();
      if (parent == null) continue;
      const keys = new Set<string>();
      for (let { child } = parent; child !== null; child = child.sibling) {
        open.push(child);
        if (child.key === null) continue;
        if (keys.has(child.key)) found.push(`two siblings have the key ${child.key}`);
        keys.add(child.key);
      }
    }
    return found;
  });
}
