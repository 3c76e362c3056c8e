import { expect, test } from "bun:test";
import { createKeybindingsHandler } from "tinykeys";
import { bindingOf } from "./shortcuts.ts";

test.each([
  ["/", "on a keyboard of its own key", "/", []],
  ["/", "as Shift and 7", "/", ["Shift"]],
  ["[", "with AltGr", "[", ["AltGraph"]],
  ["[", "with AltGr on Windows", "[", ["AltGraph", "Control", "Alt"]],
  ["]", "with Option on a Mac", "]", ["Alt"]],
] as const)("%s is taken %s", (name, _, key, held) => {
  const taken: string[] = [];
  const press = createKeybindingsHandler(
    { [bindingOf(name)]: (event) => taken.push(event.key) },
    { ignore: () => false },
  );
  const getModifierState = (modifier: string) => held.some((one) => one === modifier);
  press({ key, code: "Digit7", getModifierState } as unknown as KeyboardEvent);
  expect(taken).toEqual([name]);
});
