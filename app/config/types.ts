// Types of `site-config.ts`.

export type ThemeChoice = "light" | "dark" | "system";

interface ItemBase {
  /** Default: right. */
  readonly position?: "left" | "right";
  readonly className?: string;
}

interface ActiveBelow {
  /** The item is active below this path; default: `to`. */
  readonly activeBasePath?: string;
  /** Takes precedence over `activeBasePath`. */
  readonly activeBaseRegex?: string;
}

export interface FooterLink {
  readonly label: string;
  /** Path within the site. */
  readonly to?: string;
  /** External address. */
  readonly href?: string;
}

export interface LinkItem extends ItemBase, ActiveBelow, FooterLink {
  readonly type?: "default";
}

export interface DropdownItem extends ItemBase, ActiveBelow {
  readonly type: "dropdown";
  readonly label: string;
  /** Its own page, the first entry of its list. */
  readonly to?: string;
  readonly items: readonly DropdownEntry[];
}

type Item<Type extends string, Fields = unknown> = ItemBase & { readonly type: Type } & Fields;

/** An entry of a dropdown. The default label is that of the doc or version. */
export type DropdownEntry =
  | LinkItem
  | Item<"html", { readonly value: string }>
  | Item<"doc", { readonly docId: string; readonly label?: string }>
  | Item<"docSidebar", { readonly sidebarId: string; readonly label?: string }>
  // Default: the reader's current version.
  | Item<"docsVersion", { readonly version?: string; readonly label?: string }>;

export type NavbarItem =
  | DropdownEntry
  | DropdownItem
  | Item<"localeDropdown">
  | Item<"search">
  // Names of versions; default: all.
  | Item<"docsVersionDropdown", { readonly versions?: readonly string[] }>;

export type NavbarItemType = NonNullable<NavbarItem["type"]>;

export interface AnnouncementBarConfig {
  /** Key under which its dismissal is stored. */
  readonly id: string;
  /** HTML. */
  readonly content: string;
  readonly backgroundColor?: string;
  readonly textColor?: string;
  readonly isCloseable: boolean;
}

export interface FooterColumn {
  readonly title: string;
  readonly items: readonly FooterLink[];
}

interface Logo {
  readonly src: string;
  readonly srcDark?: string;
  readonly alt: string;
  readonly width?: number;
  readonly height?: number;
  readonly href?: string;
}

export interface FooterConfig {
  readonly style: "light" | "dark";
  readonly links: readonly FooterColumn[] | readonly FooterLink[];
  readonly logo?: Logo;
  readonly copyright: string;
}

export interface DocsVersion {
  readonly name: string;
  readonly label: string;
  /** Path at which it is served. */
  readonly path: string;
  readonly mainDoc: string;
}

/** Docs under headings, in order. */
export type Sidebar = readonly { readonly label: string; readonly docs: readonly string[] }[];

/** OpenPanel, the only supported provider. */
export interface AnalyticsConfig {
  readonly clientId: string;
  /** The provider's API, without a slash at the end; events go to `/track` below it. */
  readonly apiUrl: string;
}

interface LocaleConfig {
  readonly label: string;
  readonly direction: "ltr" | "rtl";
  readonly htmlLang: string;
}

export interface SiteConfig {
  readonly title: string;
  readonly tagline: string;
  readonly description: string;
  readonly titleDelimiter: string;
  /** A file of app/public. */
  readonly favicon: string;
  /** Public address of the site, without a trailing slash; `null` = unknown. */
  readonly url: string | null;
  /** Path of the home page: a server has one site, at its root. */
  readonly baseUrl: "/";
  /** Social card of pages without one of their own. */
  readonly image: string;
  readonly repository: string | null;
  /** Prefix of the path of a page's file. */
  readonly editUrl: string | null;
  readonly i18n: {
    readonly defaultLocale: string;
    readonly locales: Readonly<Record<string, LocaleConfig>>;
  };
  readonly colorMode: {
    readonly defaultMode: "light" | "dark";
    readonly respectPrefersColorScheme: boolean;
  };
  readonly announcementBar: AnnouncementBarConfig | null;
  readonly navbar: {
    readonly title: string;
    readonly hideOnScroll: boolean;
    readonly items: readonly NavbarItem[];
  };
  readonly footer: FooterConfig;
  readonly docs: {
    /** Namespace of this plugin's stored values, such as the preferred version. */
    readonly pluginId: string;
    readonly versions: readonly DocsVersion[];
    readonly sidebars: Readonly<Record<string, Sidebar>>;
  };
  readonly blog: {
    readonly title: string;
    readonly description: string;
    readonly path: string;
    readonly showReadingTime: boolean;
    readonly feeds: readonly ("rss" | "atom")[];
  };
  /** `null` = no analytics code is loaded, and no request is made. */
  readonly analytics: AnalyticsConfig | null;
  readonly tableOfContents: {
    readonly minHeadingLevel: number;
    readonly maxHeadingLevel: number;
  };
}
