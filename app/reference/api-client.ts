// Scalar's API client in its own dialog, with the example of an operation filled in.

import { type ApiClientModal, createApiClientModal } from "@scalar/api-client/modal";
import "@scalar/api-client/style.css";
import { createWorkspaceStore } from "@scalar/workspace-store/client";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { operations } from "./operations.ts";
import "./api-client.css";

let created: Promise<ApiClientModal> | null = null;

export async function openClient(operationId: string): Promise<void> {
  const operation = operations.find((one) => one.operationId === operationId);
  if (operation === undefined) throw new Error(`no operation is called '${operationId}'`);
  created ??= create();
  const client = await created;
  // Scalar uses a class on <body>, the site an attribute of <html>.
  const isLight = document.documentElement.dataset["theme"] === "light";
  document.body.classList.toggle("light-mode", isLight);
  document.body.classList.toggle("dark-mode", !isLight);
  client.open({ path: operation.path, method: operation.method.toLowerCase() });
}

async function create(): Promise<ApiClientModal> {
  const workspaceStore = createWorkspaceStore();
  await workspaceStore.addDocument({
    name: "holdfast",
    document: { ...openapi, servers: await reachableServers() },
  });
  const el = document.body.appendChild(document.createElement("div"));
  return createApiClientModal({ el, workspaceStore, options: { hideClientButton: true } });
}

/** If a Holdfast server serves this page, on any port, that server is listed first. */
async function reachableServers() {
  const { origin } = location;
  const others = openapi.servers.filter(({ url }) => url !== origin);
  if (!(await isHoldfast())) return others;
  return [{ url: origin, description: "The server that this page comes from." }, ...others];
}

async function isHoldfast(): Promise<boolean> {
  try {
    const reply = await fetch("/health");
    return reply.headers.get("content-type")?.includes("json") === true;
  } catch {
    return false;
  }
}
