/** What a browser gets at the root, and where nothing is: what this is and where to go, until there is more to see. */
import { isEncrypted } from "../caller/admit.ts";
import type { HttpRequest } from "../message.ts";
import { hostOf } from "../route.ts";
import type { Service } from "../service.ts";
import { listedNames } from "./collections.ts";
import type { Document } from "./documents.ts";
import { escapeHtml, htmlPage, logo } from "./html-page.ts";

/** The most collections that the page names. */
const maxNames = 24;

/** The page at the root. It names the collections that the caller may list. */
export async function frontPageOf(service: Service, request: HttpRequest): Promise<Document> {
  const names = await listedNames(service, request);
  return htmlPage({
    status: 200,
    title: "Holdfast",
    main: `${heading("Holdfast")}
<p class="lead">This is a resource server. It keeps resources in collections, and every collection has a JSON interface over HTTP.</p>
${waysOn(service, "./")}
<h2>Collections</h2>
${namesPart(service, names)}
<h2>From a terminal</h2>
<pre><code>${escapeHtml(example(service, request, names[0]))}</code></pre>`,
  });
}

/** The page of a path where nothing is. */
export function absentPageOf(service: Service, path: string): Document {
  // Relative, as on the other pages, so that a proxy may put the service below a path of its own.
  const root = "../".repeat(path.split("/").length - 2) || "./";
  return htmlPage({
    status: 404,
    title: "Nothing is here - Holdfast",
    main: `${heading("Nothing is here")}
<p class="lead">This service has nothing at <code>${escapeHtml(shortened(path))}</code>.</p>
<p>The collections are below <code>${service.settings.prefix}</code>.</p>
${waysOn(service, root, [root, "Start page", "What this service is and where to go."])}`,
  });
}

function heading(text: string): string {
  return `<header>${logo}<h1>${text}</h1></header>`;
}

/** Address, name and description of what a link leads to. */
type Way = readonly [href: string, name: string, description: string];

/** Links to what there is. Where the prefix is the root, a browser at it gets the page and not the list. */
function waysOn({ settings: { docs, prefix } }: Service, root: string, ...first: Way[]): string {
  const ways: Way[] = [...first];
  if (docs) ways.push([`${root}docs`, "Try requests", "Read about the interface, and send requests."]);
  if (prefix !== "")
    ways.push([`${root}${prefix.slice(1)}`, "Collections", "The list of collections, as JSON."]);
  if (docs) ways.push([`${root}openapi.json`, "OpenAPI", "The description of the interface, for tools."]);
  const items = ways.map(
    ([href, name, description]) =>
      `<li><a href="${href}"><strong>${name}</strong><span>${description}</span></a></li>`,
  );
  return items.length === 0 ? "" : `<ul class="ways">${items.join("")}</ul>`;
}

function namesPart(service: Service, names: readonly string[]): string {
  const { access, openCollections, readOnly, settings } = service;
  if (names.length === 0) {
    if (access !== undefined)
      return "<p>No collection is public. Send a credential to see the collections that you may list.</p>";
    const canGrow = openCollections && !readOnly;
    return `<p>There are no collections yet.${canGrow ? " The first resource that you create also creates its collection." : ""}</p>`;
  }
  const links = names
    .slice(0, maxNames)
    .map((name) => `<li><a href=".${settings.prefix}/${name}">${escapeHtml(name)}</a></li>`);
  const more = names.length - links.length;
  const notes = [
    ...(more > 0 ? [`There are ${more} more.`] : []),
    ...(access === undefined ? [] : ["With a credential you may see others."]),
  ];
  const list = `<ul class="names">${links.join("")}</ul>`;
  return notes.length === 0 ? list : `${list}<p>${notes.join(" ")}</p>`;
}

/** One line for a shell that works as it stands, but for the credential where one is needed. */
function example(service: Service, request: HttpRequest, name: string | undefined): string {
  const { access, openCollections, readOnly, settings } = service;
  const base = `${originOf(service, request)}${settings.prefix}`;
  if (name !== undefined) return `curl -i ${base}/${name}`;
  if (access !== undefined) return `curl -i ${base} -H 'Authorization: Bearer YOUR_KEY'`;
  if (!openCollections || readOnly) return `curl -i ${base}`;
  return `curl -i ${base}/topics -H 'Content-Type: application/json' -d '{"title":"Hello"}'`;
}

/** Where the browser found the service. A host that was checked has no character that means something to a shell. */
function originOf({ settings }: Service, request: HttpRequest): string {
  return `${isEncrypted(settings, request) ? "https" : "http"}://${hostOf(request)}`;
}

/** The most characters of a path that the page shows. */
const maxShown = 200;

function shortened(path: string): string {
  return path.length > maxShown ? `${path.slice(0, maxShown)}…` : path;
}
