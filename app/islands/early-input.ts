// What a reader presses and chooses in an island before its code has come: it is kept, and done
// once the island is alive, in the same order.

/** Returns what does it. */
export function keepEarlyInput(frame: HTMLElement): () => void {
  const kept: (() => void)[] = [];
  const asleep = new AbortController();
  const { signal } = asleep;
  const onClick = (event: Event) => {
    const { target } = event;
    if (!(target instanceof HTMLElement) || !target.matches("button, [type=checkbox]")) return;
    // A box that is checked now would be unchecked by the press that is done later.
    event.preventDefault();
    kept.push(() => target.click());
  };
  const onChange = ({ target }: Event) => {
    if (!(target instanceof HTMLSelectElement || target instanceof HTMLInputElement)) return;
    const { value } = target;
    kept.push(() => choose(target, value));
  };
  frame.addEventListener("click", onClick, { capture: true, signal });
  frame.addEventListener("change", onChange, { capture: true, signal });
  return () => {
    asleep.abort();
    for (const act of kept) act();
  };
}

function choose(field: HTMLSelectElement | HTMLInputElement, value: string): void {
  if (field instanceof HTMLInputElement) {
    // React passes over an input whose value is the one that it set itself, or found.
    field.value = field.defaultValue;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, value);
  } else field.value = value;
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
}
