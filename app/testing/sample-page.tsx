// Parts of the shell with configurations that the site itself does not use.

import { Component, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { MemoryRouter } from "react-router";
import type { AnnouncementBarConfig, FooterConfig, NavbarItem } from "../config/types.ts";
import { AnnouncementBar } from "../shell/announcement-bar.tsx";
import { Footer } from "../shell/footer.tsx";
import { MainMenu } from "../shell/menus.tsx";
import { BarItem } from "../shell/navbar-item.tsx";

const items: readonly NavbarItem[] = [
  { type: "html", value: '<b id="raw">raw</b>' },
  { type: "doc", docId: "faq" },
  { type: "doc", docId: "intro", label: "Begin here" },
  { type: "docsVersion" },
  {
    type: "dropdown",
    label: "More",
    items: [
      { label: "Blog", to: "/blog" },
      { type: "doc", docId: "embedded" },
      { label: "Elsewhere", href: "https://example.com/" },
    ],
  },
  {
    type: "dropdown",
    label: "Questions",
    to: "/docs/faq",
    className: "own",
    items: [{ type: "html", value: "<hr>", className: "line" }],
  },
  { type: "dropdown", label: "Below", activeBaseRegex: "^/docs/", items: [] },
  { type: "docSidebar", sidebarId: "docs", className: "leaf" },
];

const announcement: AnnouncementBarConfig = {
  id: "closed-before",
  content: "<b>Told</b> to all",
  backgroundColor: "rgb(1, 2, 3)",
  textColor: "rgb(4, 5, 6)",
  isCloseable: false,
};

const failing = { label: "Broken" } as NavbarItem;

const columns: FooterConfig = {
  style: "dark",
  links: [
    { title: "One", items: [{ label: "In", to: "/docs" }] },
    { title: "Two", items: [{ label: "Out", href: "https://example.com/" }] },
  ],
  logo: {
    src: "/a.svg",
    srcDark: "/b.svg",
    alt: "Sign",
    width: 20,
    height: 10,
    href: "https://example.com/",
  },
  copyright: "Ours",
};

const flat: FooterConfig = {
  style: "light",
  links: [
    { label: "In", to: "/docs" },
    { label: "Out", href: "https://example.com/" },
  ],
  logo: { src: "/a.svg", alt: "Sign" },
  copyright: "Ours",
};

class Failure extends Component<{ readonly children: ReactNode }, { readonly message: string }> {
  override state = { message: "" };

  static getDerivedStateFromError({ message }: Error) {
    return { message };
  }

  override render(): ReactNode {
    const { message } = this.state;
    return message === "" ? this.props.children : <p id="failure">{message}</p>;
  }
}

function Sample(): ReactNode {
  return (
    <MemoryRouter initialEntries={["/docs/faq"]}>
      <ul id="items">
        {items.map((item) => (
          <BarItem key={JSON.stringify(item)} item={item} />
        ))}
      </ul>
      <div id="drawer">
        <MainMenu items={items} />
      </div>
      <div id="announcement">
        <AnnouncementBar bar={announcement} />
      </div>
      <Failure>
        <BarItem item={failing} />
      </Failure>
      <div id="columns">
        <Footer config={columns} />
      </div>
      <div id="flat">
        <Footer config={flat} />
      </div>
    </MemoryRouter>
  );
}

createRoot(document.body).render(<Sample />);
