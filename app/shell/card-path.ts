/** Path of a page's card. Operations of the API share the card of their list. */
export function cardPath(path: string): string {
  const name = path === "/" ? "home" : path.slice(1).replace(/^api\/.*/, "api");
  return `/cards/${name.replaceAll("/", "-")}.png`;
}
