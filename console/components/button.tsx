import type { ComponentProps, ReactNode } from "react";

interface ButtonProps extends ComponentProps<"button"> {
  /** `go`: the purpose of the dialog; `harm`: it removes something. */
  readonly look?: "plain" | "go" | "harm" | "harm go" | "small" | "link";
}

const classOf = {
  small: "b s",
  link: "link",
  plain: "b",
  go: "b go",
  harm: "b harm",
  "harm go": "b harm go",
};

export function Button({ look = "plain", ...rest }: ButtonProps): ReactNode {
  return <button type="button" className={classOf[look]} {...rest} />;
}
