// Opens the client of Test Request. Its code, the largest of the site, is loaded only when a button
// is pressed.

const failure = "Not loaded. Try again";

export function startReference(): void {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-test-request]") : null;
    if (button instanceof HTMLButtonElement) void openClient(button);
  });
}

async function openClient(button: HTMLButtonElement): Promise<void> {
  button.setAttribute("aria-busy", "true");
  try {
    const client = await import("./api-client.ts");
    await client.openClient(button.dataset["testRequest"] ?? "");
  } catch {
    button.textContent = failure;
  }
  button.removeAttribute("aria-busy");
}
