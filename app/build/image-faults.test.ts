import { expect, test } from "bun:test";
import { imageFaultsIn } from "./image-faults.ts";

const isThere = (path: string) => path === "/assets/a.webp";

test.each([
  ["<p>no image</p>", 0],
  ['<img data-only="dark" src="/assets/a.webp" alt="A queue"/>', 0],
  ['<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="">', 0],
  ['<img data-only="dark" alt="A queue" width="1280"/>', 1],
  ['<img data-src="/assets/a.webp" alt="A queue"/>', 1],
  ['<img src="" alt="A queue"/>', 1],
  ['<img src="/assets/b.webp" alt="A queue"/>', 1],
  ['<img alt="A queue"/><img src="/assets/a.webp"/><img\nalt="B"/>', 2],
])("%s has %i faulty images", (html, count) => {
  expect(imageFaultsIn(html, isThere)).toHaveLength(count);
});
