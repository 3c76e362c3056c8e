import type { ReactNode } from "react";
import { Link } from "react-router";

/** The title of the tab. */
export function PageTitle({ of }: { readonly of: string }): ReactNode {
  return <title>{`${of} · Holdfast console`}</title>;
}

interface PageHeadProps {
  readonly title: string;
  /** A name, drawn as one; absent: the title. */
  readonly name?: string;
  /** The page above. */
  readonly crumb?: { readonly to: string; readonly title: string };
  readonly className?: string;
  readonly children?: ReactNode;
}

export const toQueues = { to: "/", title: "Queues" };

export function PageHead(props: PageHeadProps): ReactNode {
  const { title, name, crumb, className = "head", children } = props;
  return (
    <header className={className}>
      <PageTitle of={title} />
      {crumb && (
        <Link className="crumb" to={crumb.to}>
          {crumb.title}
        </Link>
      )}
      <h1 className={name === undefined ? undefined : "mono cut"} title={name}>
        {name === undefined ? title : <bdi>{name}</bdi>}
      </h1>
      {children}
    </header>
  );
}
