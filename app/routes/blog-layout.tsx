import type { ReactNode } from "react";
import { Outlet } from "react-router";
import { BlogFrame } from "../blog/blog-frame.tsx";
import { PostAuthors, PostFacts, PostTags } from "../blog/post-facts.tsx";
import { postPath } from "../blog/posts.ts";
import { PageActions } from "../docs/page-actions.tsx";
import { Paging } from "../docs/paging.tsx";
import { Toc } from "../docs/toc.tsx";
import { posts } from "../facts/content.ts";
import { PageMeta } from "../shell/page-meta.tsx";
import { usePage } from "../shell/use-page.ts";
import { usePathname } from "../shell/use-pathname.ts";

export default function BlogLayout(): ReactNode {
  const path = usePathname();
  const { toc } = usePage();
  const post = posts.find((candidate) => postPath(candidate) === path);
  if (post === undefined) throw new Error(`there is no post at '${path}'`);
  const pages = posts.map((each) => ({ label: each.title, to: postPath(each) })).toReversed();
  return (
    <BlogFrame aside={toc.length === 0 ? undefined : <Toc toc={toc} kind="side" />}>
      <article>
        <PageMeta title={post.title} description={post.description} path={path} kind="article" />
        <header className="docs-head">
          <PostFacts post={post} />
          <h1>{post.title}</h1>
          <p className="lead">{post.description}</p>
          <PostAuthors post={post} />
          <PageActions path={path} />
        </header>
        <Toc toc={toc} kind="inline" />
        <div className="prose">
          <Outlet />
        </div>
        <footer className="docs-foot note cluster">
          <PostTags post={post} />
        </footer>
        <Paging label="Articles" pages={pages} current={path} />
      </article>
    </BlogFrame>
  );
}
