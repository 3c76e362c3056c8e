// Records presses and choices in an island before its code is loaded, and replays them in order
// once the island is active.

/** Returns the function that replays the input. */
export function keepEarlyInput(frame: HTMLElement): () => void {
  const kept: (() => void)[] = [];
  const asleep = new AbortController();
  const { signal } = asleep;
  const onClick = (event: Event) => {
    const { target } = event;
    if (!(target instanceof HTMLElement) || !target.matches("button, [type=checkbox]")) return;
    // Otherwise the replayed press would uncheck a box that is checked now.
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
    // React ignores an input whose value equals the one it set or found.
    field.value = field.defaultValue;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, value);
  } else field.value = value;
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
}
