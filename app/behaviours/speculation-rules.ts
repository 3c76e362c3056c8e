/**
 * Pages of the site are fetched when a link to them is pointed at; files that the build writes are
 * not pages. A constant text, because each page's policy names its hash.
 */
export const speculationRules = JSON.stringify({
  prefetch: [
    {
      where: { and: [{ href_matches: "/*" }, { not: { href_matches: "/*.*" } }] },
      eagerness: "moderate",
    },
  ],
});
