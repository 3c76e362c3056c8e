/**
 * Prefetches pages of the site when the reader points at a link; files written by the build are not
 * pages. The text is constant, because each page's policy contains its hash.
 */
export const speculationRules = JSON.stringify({
  prefetch: [
    {
      where: { and: [{ href_matches: "/*" }, { not: { href_matches: "/*.*" } }] },
      eagerness: "moderate",
    },
  ],
});
