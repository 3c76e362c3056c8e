// A thin line while a page is on its way, once it has taken a moment.

import { type ReactNode, useEffect, useState } from "react";
import { useNavigation } from "react-router";
import { progressDelayMs } from "../config/constants.ts";

export function ProgressBar(): ReactNode {
  const isBusy = useNavigation().state !== "idle";
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setTimeout(() => setShown(true), progressDelayMs);
    return () => {
      clearTimeout(timer);
      setShown(false);
    };
  }, [isBusy]);
  return isShown ? <div className="progress" role="progressbar" aria-label="Loading page" /> : null;
}
