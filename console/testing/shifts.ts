import type { Page } from "playwright-core";

/** Layout shifts without input since the page was loaded, however small. */
export async function shiftsOn(page: Page): Promise<readonly string[]> {
  const shifts = await page.evaluate(
    () =>
      new Promise<readonly { value: number; what: string }[]>((resolve) => {
        const found: { value: number; what: string }[] = [];
        const textOf = ({ node, previousRect: from, currentRect: to }: LayoutShiftSource) => {
          const name = node instanceof Element ? `${node.tagName}.${node.className}` : "text";
          return `${name} ${from.x},${from.y} → ${to.x},${to.y}`;
        };
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as unknown as readonly LayoutShift[]) {
            if (entry.hadRecentInput) continue;
            found.push({ value: entry.value, what: entry.sources.map(textOf).join("; ") });
          }
        });
        observer.observe({ type: "layout-shift", buffered: true });
        // Buffered entries are delivered in a separate task.
        requestAnimationFrame(() => setTimeout(() => resolve(found)));
      }),
  );
  // Smaller ones are a digit of a figure, not a box.
  return shifts.filter(({ value }) => value >= 0.0005).map(({ what }) => what);
}

interface LayoutShift {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly LayoutShiftSource[];
}

interface LayoutShiftSource {
  readonly node: Node | null;
  readonly previousRect: DOMRectReadOnly;
  readonly currentRect: DOMRectReadOnly;
}

/** Waits until no placeholder is left and the network is idle. */
export async function settled(page: Page): Promise<void> {
  const awaited = ".console[data-state=loading], .ghost, .ghost-lines, .unknown";
  await page.waitForFunction((selector) => document.querySelector(selector) === null, awaited);
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
}
