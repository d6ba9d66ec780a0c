/** The page at `/docs`: Scalar's API reference. The service serves all its files itself, and no file that is not named here. */
import { readFile } from "node:fs/promises";
import { readProgramFile } from "../../program.ts";
import type { Document } from "../operations/result.ts";
import type { HttpSettings } from "../settings.ts";

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

/** The part of the page of this name. In an application, it is below the prefix. `undefined` if it does not exist, or the reference is not installed. */
export async function docsFile(
  name: string,
  { pagesBelow = "" }: Pick<HttpSettings, "pagesBelow">,
): Promise<Document | undefined> {
  if (name === "docs") {
    const isInstalled = (await read("standalone.js")) !== undefined;
    return isInstalled ? page(html, "text/html; charset=utf-8") : undefined;
  }
  if (name === "docs/") return toPage;
  if (name === "docs/start.js") return page(docsScript(pagesBelow), "text/javascript; charset=utf-8");
  if (name === "docs/page.css") return page(docsStyle, "text/css; charset=utf-8");
  const type = Object.hasOwn(files, name) ? files[name] : undefined;
  if (type === undefined) return undefined;
  const body = await read(name.slice("docs/".length));
  return body === undefined ? undefined : { ...page(body, type), headers: { "cache-control": cached } };
}

/** Redirects to `/docs`, because the links of the page are relative. This one is relative too, for proxies that add a path. */
const toPage: Document = {
  status: 308,
  type: "text/plain; charset=utf-8",
  body: "The page is at /docs.\n",
  headers: { location: "../docs" },
};

/** For large files, which change only with a new release. */
const cached = "private, max-age=3600";

function page(body: string, type: string): Document {
  return { status: 200, type, body, headers: { "content-security-policy": pagePolicy } };
}

const loaded = new Map<string, Promise<string | undefined>>();

function read(file: string): Promise<string | undefined> {
  const known = loaded.get(file) ?? readUncached(file);
  loaded.set(file, known);
  return known;
}

async function readUncached(file: string): Promise<string | undefined> {
  return readProgramFile(`docs-page/${file}`) ?? readFromPackage(file);
}

/** The files of the reference in a clone. The build of the clone downloads them (`tools/build/docs-page.ts`). */
const packageFolder = "../../../node_modules/@scalar/api-reference/dist/browser/";

/** Reads a file in a clone, whose sources have no copy of it; `undefined` if its package is not installed. */
async function readFromPackage(file: string): Promise<string | undefined> {
  try {
    return await readFile(new URL(packageFolder + file, import.meta.url), "utf8");
  } catch {
    return undefined;
  }
}

/** All URLs are relative, so that the page works behind a proxy that adds a path. */
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
    <p id="loading">The API reference is loading …</p>
    <div id="page"></div>
    <noscript>This page needs JavaScript. The interface is described in <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;

/**
 * Loads the OpenAPI document and shows it, in version 3.2 because of QUERY. The page leaves out aliases of parameters, which the document marks with
 * `x-holdfast-alias`. The paths in the document have the prefix, so requests start above the pages. It shows each filter by attribute as a parameter that can be filled in, with its operators in the text.
 */
const docsScript = (pagesBelow: string) => `(async () => {
  const response = await fetch("openapi-3.2.json");
  const content = await response.json();
  const resolve = (part) =>
    part.$ref === undefined ? part : part.$ref.slice(2).split("/").reduce((inner, name) => inner[name], content);
  const isFilters = (part) => resolve(part).style === "form" && resolve(part).explode;
  const filters = ({ schema }) => {
    const properties = Object.entries(resolve(schema).properties);
    return properties
      .filter(([name]) => !name.includes(":"))
      .map(([name, schema]) => {
        const others = properties.map(([other]) => other).filter((other) => other.startsWith(name + ":"));
        const more = others.length === 0 ? "" : " Operators after the name: " + others.map((other) => "\`" + other.slice(name.length) + "\`").join(", ") + ".";
        return { name, in: "query", description: "Filters by " + name + "." + more, schema };
      });
  };
  for (const item of Object.values(content.paths))
    for (const operation of Object.values(item))
      operation.parameters = (operation.parameters ?? [])
        .filter((part) => resolve(part)["x-holdfast-alias"] !== true)
        .sort((a, b) => Number(isFilters(a)) - Number(isFilters(b)))
        .flatMap((part) => (isFilters(part) ? filters(resolve(part)) : [part]));
  document.title = content.info.title + " API reference";
  document.getElementById("loading").remove();
  Scalar.createApiReference("#page", {
    content,
    baseServerURL: new URL("${"../".repeat(pagesBelow.split("/").length - 1) || "."}", location.href).href.slice(0, -1),
    // Without a token, Scalar sends an empty one. Then the session of somebody who has signed in would not count.
    customFetch: (input, init) => {
      const request = new Request(input, init);
      if (/^Bearer\\s*$/.test(request.headers.get("authorization") ?? "")) request.headers.delete("authorization");
      return fetch(request);
    },
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: "never",
    hideClientButton: true,
    documentDownloadType: "none",
    hideModels: true,
    persistAuth: false,
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    orderRequiredPropertiesFirst: true,
  });
})();
`;

/** The colours are those of the service's other pages. The link to Scalar's site and the button that copies Markdown are hidden. */
const docsStyle = `html{color-scheme:light dark}
body{margin:0}
section:focus-visible{outline:none}
.light-mode{--scalar-color-blue:#0b62a8;--scalar-color-green:#0b6b43;--scalar-color-orange:#a8430b;--scalar-color-yellow:#7a5600;--scalar-color-red:#b91c1c;--scalar-color-2:#52606d;--scalar-color-3:#5f6c78;--scalar-color-accent:#0f766e;--scalar-background-accent:#0f766e1f}
.dark-mode{--scalar-color-2:#b4c0c9;--scalar-color-3:#9fb0bc;--scalar-color-accent:#5eead4;--scalar-background-accent:#5eead41f}
a[href="https://www.scalar.com"],.operation-auth>.scalar-button{display:none!important}
`;
