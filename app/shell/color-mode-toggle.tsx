import type { ReactNode } from "react";
import { colorModeLabel } from "../behaviours/color-mode.ts";
import { siteConfig } from "../site-config.ts";
import { Icon } from "./icon.tsx";

const choices = ["system", "light", "dark"] as const;

/** Shows the choice stored on <html>. It is disabled until the page's behaviours have started. */
export function ColorModeToggle(): ReactNode {
  const { respectPrefersColorScheme, defaultMode } = siteConfig.colorMode;
  const label = colorModeLabel(defaultMode, respectPrefersColorScheme);
  return (
    <button
      type="button"
      className="icon-button color-mode-toggle"
      disabled={true}
      aria-label={label}
      title={label}
      data-respects-system={respectPrefersColorScheme ? "" : undefined}
    >
      {choices.map((choice) => (
        <span key={choice} data-choice={choice}>
          <Icon name={choice} />
        </span>
      ))}
    </button>
  );
}
