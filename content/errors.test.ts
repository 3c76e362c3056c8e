// The pages of the reply codes against the contract: a page for each code, a section for each
// of its reasons, and replies that the server sends.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replyCodes } from "../openapi/codes.ts";
import { document } from "../openapi/document.ts";
import { reasons } from "../openapi/reasons.ts";
import { fencesOf } from "./testing/samples.ts";

const root = join(import.meta.dir, "..");
const codes = Object.entries(replyCodes);

function pageOf(code: string): string {
  return readFileSync(join(import.meta.dir, `docs/errors/${code}.mdx`), "utf8");
}

/** Each heading with the text below it. */
function sectionsOf(page: string): readonly (readonly [string, string])[] {
  const [, ...sections] = page.split(/^## /m);
  return sections.map((section) => {
    const end = section.indexOf("\n");
    return [section.slice(0, end), section.slice(end)];
  });
}

test.each(codes)("%s: its page has its name, and what to do about it", (code, { text }) => {
  const page = pageOf(code);
  expect(page).toContain(`title: ${code} ${text}\n`);
  const isRefusal = code !== "200";
  expect(page.includes(`<Code code="${code}" />`)).toBe(isRefusal);
});

test.each(codes)("%s: its page has each of its reasons once, and no other", (code) => {
  const own = Object.entries(reasons).flatMap(([reason, { codes: its }]) =>
    its.some((each) => String(each) === code) ? [reason] : [],
  );
  const sections = sectionsOf(pageOf(code));
  expect(sections.map(([reason]) => reason).toSorted()).toEqual(own.toSorted());
  for (const [reason, section] of sections) {
    expect(section).toContain(`<Reason name="${reason}" />`);
    const replies = [...section.matchAll(/^```json[^\n]*\n([\s\S]*?)\n```$/gm)].map(
      ([, reply = ""]): unknown => JSON.parse(reply),
    );
    expect(replies).toContainEqual(
      expect.objectContaining({ code: Number(code), reason, message: expect.any(String) }),
    );
  }
});

/** Reasons with which a refusal has changed something; besides them it is 504. */
const exceptions = ["in_part"] as const;

test.each(codes)("%s: nothing changed, unless it comes with an exception", (code, { meaning }) => {
  const own = exceptions.filter((reason) =>
    reasons[reason].codes.some((each) => String(each) === code),
  );
  expect(exceptions.filter((reason) => meaning.includes(`\`${reason}\``))).toEqual(own);
  if (own.length > 0) expect(meaning).toMatch(/Nothing changed, unless `reason` is [^.]*\.$/);
});

test("errors: the exceptions stand on the page of errors and in the contract; others link to it", () => {
  const named = ["504", ...exceptions];
  const page = readFileSync(join(import.meta.dir, "docs/errors.mdx"), "utf8");
  for (const text of [page.split("## Codes")[0], document().info.description.split("## ")[0]]) {
    for (const name of named) expect(text).toContain(name);
  }
  const files = [...new Bun.Glob("content/**/*.mdx").scanSync({ cwd: root }), "README.md"];
  const sentences = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split(/\.\s/)
      .filter((sentence) =>
        /(any other (code|answer)|anything (but|else)|every code but)[^|]*(nothing|it) (has )?changed|changed nothing/i.test(
          sentence,
        ),
      )
      .map((sentence) => [file, sentence] as const),
  );
  expect(sentences.length).toBeGreaterThan(4);
  const bare = sentences.filter(
    ([file, sentence]) => file !== "content/docs/errors.mdx" && !/docs\/errors/.test(sentence),
  );
  expect(bare).toEqual([]);
});

/** What the sources say, with `.*` for what they put in. */
function wordings(): readonly RegExp[] {
  const sources = [...new Bun.Glob("{engine,server}/**/*.ts").scanSync({ cwd: root })]
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  return [...sources.matchAll(/"([^"\n]+)"|`([^`\n]+)`/g)].flatMap(([, plain, template]) => {
    const parts = plain === undefined ? (template ?? "").split(/\$\{[^}]*\}/) : [plain];
    // What is hardly more than a place for something would match anything.
    if (!parts.some((part) => /\w{4}\W+\w/.test(part))) return [];
    return [new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".*")}$`)];
  });
}

test("replies that no sample asks for are worded as the sources word them", () => {
  const known = wordings();
  const unknown = codes.flatMap(([code]) => {
    const page = pageOf(code);
    const compared = new Set(fencesOf(page).map((fence) => fence.code));
    return [...page.matchAll(/^```json[^\n]*\n([\s\S]*?\n)```$/gm)].flatMap(([, text = ""]) => {
      const { message } = JSON.parse(text) as { readonly message: string };
      const isKnown = compared.has(text) || message === "";
      return isKnown || known.some((wording) => wording.test(message)) ? [] : [message];
    });
  });
  expect(unknown).toEqual([]);
});
