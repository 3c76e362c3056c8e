// Scalar knows its colour mode by a class on <body>, which it sets from what it remembers.
// The site's choice holds instead; the colours themselves are the site's (`reference.css`).

const modes = { dark: "dark-mode", light: "light-mode" } as const;

export function followColorMode(): () => void {
  const { body, documentElement } = document;
  const follow = () => {
    const isLight = documentElement.dataset["theme"] === "light";
    const [wanted, other] = isLight ? [modes.light, modes.dark] : [modes.dark, modes.light];
    // Only what differs: each change comes back here.
    if (!body.classList.contains(wanted)) body.classList.add(wanted);
    if (body.classList.contains(other)) body.classList.remove(other);
  };
  const observer = new MutationObserver(follow);
  observer.observe(documentElement, { attributeFilter: ["data-theme"] });
  observer.observe(body, { attributeFilter: ["class"] });
  follow();
  return () => {
    observer.disconnect();
    body.classList.remove(modes.dark, modes.light);
  };
}
