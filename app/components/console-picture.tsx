// A picture of the console in the reader's colours, as `bun run console:shots` takes it.

import type { ReactNode } from "react";

const files = import.meta.glob<string>("../../content/pictures/*.webp", {
  // Read by Vite in the source: what it finds here has to be written out.
  eager: true,
  query: "?url",
  import: "default",
});

interface ConsolePictureProps {
  readonly name: string;
  /** What it shows. */
  readonly alt: string;
  /** Of a window as narrow as a phone. */
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
