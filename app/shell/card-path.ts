/** Where the card of a page is. Operations of the API have that of their list. */
export function cardPath(path: string): string {
  const name = path === "/" ? "home" : path.slice(1).replace(/^api\/.*/, "api");
  return `/cards/${name.replaceAll("/", "-")}.png`;
}
