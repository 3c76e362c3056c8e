import type { ReactNode } from "react";
import { BlogPage } from "../blog/blog-frame.tsx";
import { dateText, postPath, postsByYear } from "../blog/posts.ts";
import { posts } from "../facts/content.ts";
import { SiteLink } from "../shell/site-link.tsx";

export default function BlogArchive(): ReactNode {
  return (
    <BlogPage title="Archive" description="Every article, by year." eyebrow="Blog">
      {postsByYear(posts).map(([year, ofYear]) => (
        <section key={year} className="archive-year" aria-labelledby={`year-${year}`}>
          <h2 id={`year-${year}`}>{year}</h2>
          <ul>
            {ofYear.map((post) => (
              <li key={post.slug}>
                <time className="figure fine" dateTime={post.date}>
                  {dateText(post.date).replace(/, \d+$/, "")}
                </time>
                <SiteLink to={postPath(post)}>{post.title}</SiteLink>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </BlogPage>
  );
}
