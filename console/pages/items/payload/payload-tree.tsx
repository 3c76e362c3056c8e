// The tree of a payload. It is a file of its own because it is loaded after the page.

import type { ReactNode } from "react";
import { JsonView } from "react-json-view-lite";

const style = {
  container: "tree",
  basicChildStyle: "twig",
  childFieldsContainer: "twigs",
  label: "k",
  clickableLabel: "k",
  nullValue: "v",
  undefinedValue: "v",
  numberValue: "v",
  booleanValue: "v",
  otherValue: "v big",
  stringValue: "str",
  punctuation: "n",
  expandIcon: "fold",
  collapseIcon: "fold open",
  collapsedContent: "more",
  quotesForFieldNames: false,
  noQuotesForStringValues: false,
  stringifyStringValues: true,
  ariaLables: { collapseJson: "Fold", expandJson: "Unfold" },
};

const isOpenAtFirst = (level: number, value: unknown) =>
  level === 0 || (level < 2 && Object.keys(value as object).length <= 10);

export function PayloadTree({ root }: { readonly root: object }): ReactNode {
  return (
    <JsonView
      data={root}
      style={style}
      shouldExpandNode={isOpenAtFirst}
      clickToExpandNode
      aria-label="Payload as a tree"
    />
  );
}
