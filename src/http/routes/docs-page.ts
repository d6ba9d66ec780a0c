/** The page at `/docs`: Scalar's API reference, served from here alone. Its files are listed by name, so no path reaches another. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { docsScript, docsStyle } from "./docs-page-parts.ts";
import type { Document } from "./document.ts";

/** The files of the reference that the page loads, with their types. The build copies them beside the program. */
const files: Readonly<Record<string, string>> = {
  "docs/standalone.js": "text/javascript; charset=utf-8",
};

/**
 * What the page may load, in place of the Content-Security-Policy of other responses: scripts and requests of this service only.
 * The reference adds style elements to the page, and its icons are data.
 */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The part of the page of this name; `undefined` if it does not exist, or the reference is not installed. */
export async function docsFile(name: string): Promise<Document | undefined> {
  if (name === "docs") {
    const isThere = (await read("standalone.js")) !== undefined;
    return isThere ? page(html, "text/html; charset=utf-8") : undefined;
  }
  if (name === "docs/") return toPage;
  if (name === "docs/start.js") return page(docsScript, "text/javascript; charset=utf-8");
  if (name === "docs/page.css") return page(docsStyle, "text/css; charset=utf-8");
  const type = Object.hasOwn(files, name) ? files[name] : undefined;
  if (type === undefined) return undefined;
  const body = await read(name.slice("docs/".length));
  return body === undefined ? undefined : { ...page(body, type), headers: { "cache-control": kept } };
}

/** Redirects to the page's only address, since its links are relative. This one is relative too, for proxies that add a path. */
const toPage: Document = {
  status: 308,
  type: "text/plain; charset=utf-8",
  body: "The page is at /docs.\n",
  headers: { location: "../docs" },
};

/** In seconds: large, and the same until the program is another. */
const kept = "private, max-age=3600";

function page(body: string, type: string): Document {
  return { status: 200, type, body, headers: { "content-security-policy": pagePolicy } };
}

const loaded = new Map<string, Promise<string | undefined>>();

function read(file: string): Promise<string | undefined> {
  const known = loaded.get(file) ?? readFirst([() => besideProgram(file), () => inPackage(file)]);
  loaded.set(file, known);
  return known;
}

async function readFirst(places: readonly (() => string | URL)[]): Promise<string | undefined> {
  for (const place of places) {
    try {
      return await readFile(place(), "utf8");
    } catch {} // it is in the other place, or there is no such page
  }
  return undefined;
}

/** In what is published. */
function besideProgram(file: string): URL {
  return new URL(`../../docs-page/${file}`, import.meta.url);
}

/** In a clone. */
function inPackage(file: string): string {
  return join(createRequire(import.meta.url).resolve("@scalar/api-reference"), "../browser", file);
}

/** Addresses are relative, so that the page works wherever a proxy puts the service. */
const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/page.css">
    <script src="docs/standalone.js" defer></script>
    <script src="docs/start.js" defer></script>
  </head>
  <body>
    <div id="page"></div>
    <noscript>This page needs JavaScript. The interface is described in <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;
