import type { ReactNode } from "react";
import type { PostData } from "../build/content.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { PostFacts } from "./post-facts.tsx";
import { postPath } from "./posts.ts";

/** Posts with their excerpts, newest first. */
export function PostList({ posts }: { readonly posts: readonly PostData[] }): ReactNode {
  return (
    <ol className="post-list rows">
      {posts.map((post) => (
        <li key={post.slug}>
          <article>
            <PostFacts post={post} />
            <h2>
              <SiteLink to={postPath(post)}>{post.title}</SiteLink>
            </h2>
            <p className="aside">{post.description}</p>
            <p className="cluster note">
              <SiteLink to={postPath(post)}>
                Read the article<span className="visually-hidden">: {post.title}</span>
              </SiteLink>
            </p>
          </article>
        </li>
      ))}
    </ol>
  );
}
