// How the browser's code is cut into files. What every page needs is two of them: packed
// together it is smaller than in a dozen, and the packages, which seldom change, stay
// in a reader's cache when the site does.

const shell =
  /\/app\/(shell|config|brand)\/|\/app\/(site-config|search\/search-(box|button|state)|docs\/(docs-menu|versions)|blog\/(blog-menu|posts))\.tsx?$|virtual:content$/;

export const clientChunks = {
  /** Its own marks are lost with the name that its build gives to React. */
  treeshake: {
    manualPureFunctions: ["React$1.createContext", "React$1.forwardRef", "React$1.memo"],
  },
  output: {
    codeSplitting: {
      groups: [
        {
          name: "packages",
          test: /\/node_modules\/(react|react-dom|react-router|scheduler)\//,
          priority: 2,
        },
        { name: "shell", test: shell, priority: 1 },
      ],
    },
  },
};
