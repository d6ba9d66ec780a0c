/**
 * The page on which requests can be tried: Swagger UI with nothing from elsewhere. Its files are named here one by one, so
 * that no path leads to any other.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Document } from "./document.ts";

/** The files of Swagger UI that the page needs, by what their paths end with. The build copies them beside the program. */
const files: Readonly<Record<string, string>> = {
  "docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "docs/swagger-ui.css": "text/css; charset=utf-8",
};

/**
 * What the page may load, in place of the Content-Security-Policy of other answers: scripts and requests of this service alone.
 * Swagger UI sets styles of single elements, and brings its few pictures along as data.
 */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The part of the page of this name; `undefined` if there is none, or Swagger UI is not installed. */
export async function docsFile(name: string): Promise<Document | undefined> {
  if (name === "docs") {
    const isThere = (await read("swagger-ui-bundle.js")) !== undefined;
    return isThere ? page(html, "text/html; charset=utf-8") : undefined;
  }
  if (name === "docs/") return toPage;
  if (name === "docs/start.js") return page(start, "text/javascript; charset=utf-8");
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
  return createRequire(import.meta.url).resolve(`swagger-ui-dist/${file}`);
}

/** Addresses are relative, so that the page works wherever a proxy puts the service. */
const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Try it</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/start.js" defer></script>
  </head>
  <body>
    <main id="page"></main>
    <noscript>This page needs JavaScript. The interface is described in <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;

/** `validatorUrl` would send the description to a server elsewhere. */
const start = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#page",
  validatorUrl: null,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
});
`;
