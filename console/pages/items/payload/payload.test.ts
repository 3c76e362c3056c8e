import { describe, expect, test } from "bun:test";
import { bytesOf, hexLine, plainOf, textOf, treeOf } from "./payload.ts";

const tree = (text: string) => treeOf({ text, isUtf8: true });
const encode = (text: string) => new TextEncoder().encode(text);

describe("treeOf", () => {
  test.each([
    ["9007199254740993", "9007199254740993"],
    ["1.10", "1.10"],
    ["1e400", "1e400"],
    ["-0", "-0"],
    ["12", "12"],
  ])("treeOf: a number is shown as written: %s", (written, shown) => {
    const found = tree(`{"order":${written}}`);
    if (found.what === "none") {
      // An engine that does not say how it was written is not believed.
      expect(found.why).toContain("numbers");
      return;
    }
    const { order } = found.root as { readonly order: number | Date };
    expect(order instanceof Date ? order.toISOString() : String(order)).toBe(shown);
  });

  test.each([
    ["a key twice", '{"a":1,"a":2}', "twice"],
    ["a key twice further in", '{"a":{"b":1,"b":1}}', "twice"],
    ["10,000 levels", `${"[".repeat(10_000)}${"]".repeat(10_000)}`, "nested"],
    ["more than 1 MB", `["${"x".repeat(1_000_001)}"]`, "1 MB"],
    ["no JSON", "{not json}", "not JSON"],
    ["a text", "plain", ""],
    ["a number alone", "12", ""],
    ["nothing", "", ""],
  ])("treeOf: no tree if it would be incomplete: %s", (_, text, why) => {
    const found = tree(text);
    expect(found.what).toBe("none");
    if (found.what === "none") expect(found.why).toContain(why);
  });

  test("treeOf: a colon or a quote within a string is not a key", () => {
    expect(tree('{"a":"b\\":","c":["d:",":"]}').what).toBe("tree");
  });
});

test("hexLine: each byte, and its ASCII character", () => {
  const bytes = Uint8Array.from({ length: 20 }, (_, at) => at + 60);
  expect(hexLine(bytes, 0)).toBe(
    "000000  3c 3d 3e 3f 40 41 42 43  44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK",
  );
  expect(hexLine(bytes, 1)).toBe(`000010  4c 4d 4e 4f${" ".repeat(39)}LMNO`);
});

test("textOf: invalid UTF-8 is reported", () => {
  expect(textOf(bytesOf(btoa("\xff\xfeA")))).toEqual({ text: "\ufffd\ufffdA", isUtf8: false });
  expect(textOf(encode("\ufeffA"))).toEqual({ text: "\ufeffA", isUtf8: true });
});

test("plainOf: control characters are visible", () => {
  expect(plainOf("\u001b[31mred\n\u202eabc")).toEqual({
    text: "␛[31mred\n⟨U+202e⟩abc",
    hasControls: true,
  });
  expect(plainOf("a\tb\n").hasControls).toBe(false);
});
