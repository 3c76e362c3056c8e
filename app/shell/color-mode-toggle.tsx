import type { ReactNode } from "react";
import { siteConfig } from "../site-config.ts";
import { choose, nextChoice, useThemeChoice } from "./color-mode.ts";
import { Icon } from "./icon.tsx";

export function ColorModeToggle(): ReactNode {
  const choice = useThemeChoice();
  const { respectPrefersColorScheme, defaultMode } = siteConfig.colorMode;
  const shown = choice ?? defaultMode;
  const next = nextChoice(shown, respectPrefersColorScheme);
  const label = `Colour mode: ${shown}. Switch to ${next}.`;
  return (
    <button
      type="button"
      className="icon-button color-mode-toggle"
      disabled={choice === null}
      aria-label={label}
      title={label}
      onClick={() => choose(next)}
    >
      <Icon name={shown} />
    </button>
  );
}
