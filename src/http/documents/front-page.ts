/** The pages that a browser gets at the root and at unknown paths. They say what the service is, and link to the rest. */
import { type Caller, isEncrypted } from "../caller/admit.ts";
import type { Document } from "../operations/result.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { hostOf } from "../protocol/target.ts";
import type { Callers, Data, Surface } from "../service.ts";
import { listedNames } from "./collections.ts";
import { escapeHtml, htmlPage, logo } from "./html-page.ts";

/** The most collections that the page names. */
const maxNames = 24;

/** The page at the root. It names the collections that the caller can list. */
export async function frontPageOf(
  service: Data & Callers & Surface,
  caller: Caller,
  request: HttpRequest,
): Promise<Document> {
  const names = await listedNames(service, caller);
  const { title } = service.settings.info;
  return htmlPage({
    status: 200,
    title,
    main: `${heading(title)}
<p class="lead">This service stores resources in collections. Each collection has a JSON interface over HTTP.</p>
${linksPart(service, "./")}
<h2>Collections</h2>
${namesPart(service, names)}
<h2>From a terminal</h2>
<pre><code>${escapeHtml(example(service, request, names[0]))}</code></pre>`,
  });
}

/** Deeper paths get absolute links, so that the page stays small. */
const maxDepth = 50;

/** The page for an unknown path, with status 404. */
export function absentPageOf(service: Surface, path: string): Document {
  // All links are relative, so that they work behind a proxy that adds a path.
  const depth = path.split("/").length - 2;
  const root = depth > maxDepth ? "/" : "../".repeat(depth) || "./";
  return htmlPage({
    status: 404,
    title: `Page not found - ${service.settings.info.title}`,
    main: `${heading("Page not found")}
<p class="lead">Nothing exists at <code>${escapeHtml(shortened(path))}</code>.</p>
<p>Collections are under <code>${service.settings.prefix}</code>.</p>
${linksPart(service, root, [root, "Start page", "About this service."])}`,
  });
}

function heading(text: string): string {
  return `<header>${logo}<h1>${escapeHtml(text)}</h1></header>`;
}

/** A link, with a name and a description. */
type Link = readonly [href: string, name: string, description: string];

/** Links to the parts of the service. The list has no link if the prefix is the root, since a browser gets this page there. */
function linksPart({ settings: { docs, prefix } }: Surface, root: string, ...first: Link[]): string {
  const links: Link[] = [...first];
  if (docs) links.push([`${root}docs`, "API reference", "Read about every request, and send it."]);
  if (prefix !== "")
    links.push([`${root}${prefix.slice(1)}`, "Collections", "The list of collections, as JSON."]);
  if (docs)
    links.push([`${root}openapi.json`, "OpenAPI document", "The description of the interface, for tools."]);
  const items = links.map(
    ([href, name, description]) =>
      `<li><a href="${href}"><strong>${name}</strong><span>${description}</span></a></li>`,
  );
  return items.length === 0 ? "" : `<ul class="ways">${items.join("")}</ul>`;
}

function namesPart(service: Data & Callers & Surface, names: readonly string[]): string {
  const { access, openCollections, readOnly, settings } = service;
  if (names.length === 0) {
    if (access !== undefined)
      return "<p>No collection is public. With a credential, you see the collections that you can list.</p>";
    const canGrow = openCollections && !readOnly;
    return `<p>There are no collections yet.${canGrow ? " The first resource that you create also creates its collection." : ""}</p>`;
  }
  const links = names
    .slice(0, maxNames)
    .map((name) => `<li><a href=".${settings.prefix}/${name}">${escapeHtml(name)}</a></li>`);
  const more = names.length - links.length;
  const notes = [
    ...(more > 0 ? [`There are ${more} more.`] : []),
    ...(access === undefined ? [] : ["With a credential, you may see more."]),
  ];
  const list = `<ul class="names">${links.join("")}</ul>`;
  return notes.length === 0 ? list : `${list}<p>${notes.join(" ")}</p>`;
}

/** A command that works when it is copied; if it needs a credential, the reader must fill it in. */
function example(service: Data & Callers & Surface, request: HttpRequest, name: string | undefined): string {
  const { access, openCollections, readOnly, settings } = service;
  const base = `${originOf(service, request)}${settings.prefix}`;
  if (name !== undefined) return `curl -i ${base}/${name}`;
  if (access !== undefined) return `curl -i ${base} -H 'Authorization: Bearer YOUR_KEY'`;
  if (!openCollections || readOnly) return `curl -i ${base}`;
  return `curl -i ${base}/topics -H 'Content-Type: application/json' -d '{"title":"Hello"}'`;
}

/** The origin in the browser's address. It is safe in a shell: a checked host has no special characters. */
function originOf({ settings }: Surface, request: HttpRequest): string {
  return `${isEncrypted(settings, request) ? "https" : "http"}://${hostOf(request)}`;
}

/** The most characters of a path that the page shows. */
const maxShown = 200;

function shortened(path: string): string {
  return path.length > maxShown ? `${path.slice(0, maxShown)}…` : path;
}
