// How the browser's code is cut into files. A page asks for one; React is apart from the islands
// that share it.

const page =
  /\/app\/(entry\.client|behaviours\/|config\/constants|islands\/start-islands|search\/open-search|analytics\/start-analytics)/;

export const clientChunks = {
  output: {
    codeSplitting: {
      groups: [
        // What renders pages at build time is not for the browser.
        {
          name: "react",
          test: /\/node_modules\/(react|react-dom|scheduler)\/(?!.*server)/,
          priority: 2,
        },
        { name: "page", test: page, priority: 1 },
        { name: "simulator", test: /\/app\/simulator\// },
      ],
    },
  },
};
