import type { ReactNode } from "react";
import type { PostData } from "../build/content.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { PostFacts } from "./post-facts.tsx";
import { postPath } from "./posts.ts";

/** Posts with their excerpts, newest first. */
export function PostList({ posts }: { readonly posts: readonly PostData[] }): ReactNode {
  return (
    <ol className="post-list">
      {posts.map((post) => (
        <li key={post.slug}>
          <article>
            <PostFacts post={post} />
            <h2>
              <SiteLink to={postPath(post)}>{post.title}</SiteLink>
            </h2>
            <p>{post.description}</p>
            <SiteLink to={postPath(post)} className="more">
              Read the article<span className="visually-hidden">: {post.title}</span>
            </SiteLink>
          </article>
        </li>
      ))}
    </ol>
  );
}
