// A screenshot of the console in the reader's colour mode, taken by `bun run console:shots`.

import type { ReactNode } from "react";

const files = import.meta.glob<string>("../../content/pictures/*.webp", {
  // Vite reads this from the source, so the pattern must be a literal.
  eager: true,
  query: "?url",
  import: "default",
});

interface ConsolePictureProps {
  readonly name: string;
  /** A description of its content. */
  readonly alt: string;
  /** Taken at the width of a phone. */
  readonly isPhone?: boolean;
}

export function ConsolePicture({ name, alt, isPhone = false }: ConsolePictureProps): ReactNode {
  const size = isPhone ? { width: 390, height: 844 } : { width: 1280, height: 800 };
  return (
    <p>
      {(["dark", "light"] as const).map((theme) => (
        <img
          key={theme}
          data-only={theme}
          src={fileOf(name, theme)}
          alt={alt}
          {...size}
          loading="lazy"
        />
      ))}
    </p>
  );
}

function fileOf(name: string, theme: string): string {
  const file = files[`../../content/pictures/console-${name}-${theme}.webp`];
  if (file === undefined) throw new Error(`the console has no picture ${name}, ${theme}`);
  return file;
}
