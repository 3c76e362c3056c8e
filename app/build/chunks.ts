// How the browser's code is cut into files. What every page needs is two of them: packed
// together it is smaller than in a dozen, and the packages, which seldom change, stay
// in a reader's cache when the site does.

const shell =
  /\/app\/(shell|config|brand)\/|\/app\/(site-config|search\/(search-(button|dialog-frame)|open-search)|docs\/(docs-menu|versions)|blog\/(blog-menu|posts))\.tsx?$|virtual:content$/;

/** By their names, each after the one that it imports. */
export const sharedChunks = ["packages", "shell"] as const;

export const clientChunks = {
  /** Its own marks are lost with the name that its build gives to React. */
  treeshake: {
    manualPureFunctions: ["React$1.createContext", "React$1.forwardRef", "React$1.memo"],
  },
  output: {
    codeSplitting: {
      groups: [
        {
          name: sharedChunks[0],
          test: /\/node_modules\/(react|react-dom|react-router|scheduler)\//,
          priority: 2,
        },
        { name: sharedChunks[1], test: shell, priority: 1 },
      ],
    },
  },
};
