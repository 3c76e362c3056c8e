import type { ComponentProps, ReactNode } from "react";

/** Wide tables scroll within their own frame, also by keyboard. */
export function Table(props: ComponentProps<"table">): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <div className="table-frame" tabIndex={0}>
      <table {...props} />
    </div>
  );
}
