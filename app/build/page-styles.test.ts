import { expect, test } from "bun:test";
import { pageStyles } from "./page-styles.ts";

const sheet = `@layer base { p { color: red } .page { top: 0 } .page .gone { top: 1px } }
@layer component { .sim-code-453, .gone { top: 2px } :is(.gone, .other) b { top: 3px }
  .sim { & p { top: 4px } & .gone { top: 5px } } .gone { animation: x } .late { top: 6px } }`;

test("page styles: rules for the elements of the page and for those that its scripts add", () => {
  const html = '<p class="page first">gone</p>';
  const scripts = 'a="sim-code-"+b;c.className="late";';
  expect(pageStyles(sheet, { html, scripts })).toBe(
    "@layer base{p{color:red}.page{top:0}}@layer component{.sim-code-453,.gone{top:2px}.late{top:6px}}",
  );
});

test("page styles: a nested rule is kept or removed with its parent", () => {
  expect(pageStyles(sheet, { html: '<b class="sim">', scripts: "" })).toBe(
    "@layer base{p{color:red}}@layer component{.sim{& p{top:4px}}}",
  );
});
