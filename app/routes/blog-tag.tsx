import { posts, tags } from "virtual:content";
import type { ReactNode } from "react";
import { BlogFrame } from "../blog/blog-frame.tsx";
import { PageHead } from "../blog/page-head.tsx";
import { PostList } from "../blog/post-list.tsx";
import { tagPath } from "../blog/posts.ts";
import { useNamed } from "../blog/use-named.ts";

export default function BlogTag(): ReactNode {
  const { name, label, description } = useNamed(tags, /\/([^/]+)$/);
  return (
    <BlogFrame>
      <PageHead
        title={label}
        description={description === "" ? `Articles about ${label}.` : description}
        path={tagPath(name)}
        eyebrow="Tag"
      />
      <PostList posts={posts.filter((post) => post.tags.includes(name))} />
    </BlogFrame>
  );
}
