// Marks the current section in the contents beside the text: the last one whose heading has passed
// the upper quarter of the window.

export function startToc(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.toc a[href^="#"]')];
  if (links.length === 0) return;
  let isDue = false;
  const update = () => {
    isDue = false;
    const passed = links.filter((link) => {
      const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      return heading !== null && heading.getBoundingClientRect().top < innerHeight / 4;
    });
    const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const current = (atEnd ? links : passed).at(-1);
    for (const link of links) {
      if (link === current) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  const soon = () => {
    if (!isDue) requestAnimationFrame(update);
    isDue = true;
  };
  soon();
  window.addEventListener("scroll", soon, { passive: true });
}
