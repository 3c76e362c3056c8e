// How Scalar shows the API, the same when it is rendered at build time and when it runs:
// the two must not differ by a pixel. Nothing in it may ask another origin.

import type { AnyApiReferenceConfiguration } from "@scalar/types/api-reference";

interface OperationNames {
  readonly operationId?: string | undefined;
  readonly path: string;
}

export const scalarOptions = {
  theme: "none",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hideDarkModeToggle: true,
  hideModels: true,
  documentDownloadType: "direct",
  defaultOpenAllTags: true,
  expandAllSchemaProperties: true,
  orderSchemaPropertiesBy: "preserve",
  // The site has its search, which knows every operation.
  hideSearch: true,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  generateOperationSlug: ({ operationId, path }: OperationNames) => operationId ?? path,
} as const satisfies AnyApiReferenceConfiguration;
