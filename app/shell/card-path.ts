/** Where the card of a page is. */
export function cardPath(path: string): string {
  const name = path === "/" ? "home" : path.slice(1).replaceAll("/", "-");
  return `/cards/${name}.png`;
}
