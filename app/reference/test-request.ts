// The buttons "Test Request". What they open is most of the site's code, so it is asked for
// when one is pressed and not before.

const failure = "Not loaded. Try again";

export function startTestRequests(): () => void {
  const pressed = ({ target }: MouseEvent) => {
    const button = target instanceof Element ? target.closest("[data-test-request]") : null;
    if (button instanceof HTMLButtonElement) void open(button);
  };
  document.addEventListener("click", pressed);
  return () => document.removeEventListener("click", pressed);
}

async function open(button: HTMLButtonElement): Promise<void> {
  button.setAttribute("aria-busy", "true");
  try {
    const { openClient } = await import("./api-client.ts");
    await openClient(button.dataset["testRequest"] ?? "");
  } catch {
    button.textContent = failure;
  }
  button.removeAttribute("aria-busy");
}
