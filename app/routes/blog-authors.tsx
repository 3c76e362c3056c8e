import type { ReactNode } from "react";
import { BlogPage } from "../blog/blog-frame.tsx";
import { articlesText, authorArticlesPath, authorPath } from "../blog/posts.ts";
import { authors, posts } from "../facts/content.ts";
import { SiteLink } from "../shell/site-link.tsx";

export default function BlogAuthors(): ReactNode {
  return (
    <BlogPage title="Authors" description="Who writes here." eyebrow="Blog">
      <ul className="people rows">
        {authors.map(({ name, title, role }) => (
          <li key={name}>
            <h2>
              <SiteLink to={authorPath(name)}>{title}</SiteLink>
            </h2>
            <p className="aside">{role}</p>
            <SiteLink to={authorArticlesPath(name)}>
              {articlesText(posts.filter((post) => post.authors.includes(name)).length)}
            </SiteLink>
          </li>
        ))}
      </ul>
    </BlogPage>
  );
}
