// Reading time of a text in minutes, without code.

const wordsPerMinute = 200;

/** MDX without code, imports and tags: roughly the visible text. */
export function proseOf(source: string): string {
  return source
    .replace(/^```[\s\S]*?^```/gm, " ")
    .replace(/^(import|export) .*$/gm, " ")
    .replace(/\{\/\*[\s\S]*?\*\/\}/g, " ")
    .replace(/<[^>]+>/g, " ")
    .replace(/[#*_`|>-]+/g, " ");
}

export function readingMinutes(source: string): number {
  const words = proseOf(source)
    .split(/\s+/)
    .filter((word) => word !== "").length;
  return Math.max(1, Math.round(words / wordsPerMinute));
}
