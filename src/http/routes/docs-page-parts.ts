/** The script that starts the page at `/docs`, and the page's own styles. */

/**
 * Loads the OpenAPI document and shows it, in version 3.2 because of QUERY. The page leaves out aliases of parameters, which the document marks with
 * `x-holdfast-alias`. It shows each filter by attribute as a parameter that can be filled in, with its operators in the text.
 */
export const docsScript = `(async () => {
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
  Scalar.createApiReference("#page", {
    content,
    baseServerURL: new URL(".", location.href).href.slice(0, -1),
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
export const docsStyle = `html{color-scheme:light dark}
body{margin:0}
section:focus-visible{outline:none}
.light-mode{--scalar-color-blue:#0b62a8;--scalar-color-green:#0b6b43;--scalar-color-orange:#a8430b;--scalar-color-yellow:#7a5600;--scalar-color-red:#b91c1c;--scalar-color-2:#52606d;--scalar-color-3:#5f6c78;--scalar-color-accent:#0f766e;--scalar-background-accent:#0f766e1f}
.dark-mode{--scalar-color-2:#b4c0c9;--scalar-color-3:#9fb0bc;--scalar-color-accent:#5eead4;--scalar-background-accent:#5eead41f}
a[href="https://www.scalar.com"],.operation-auth>.scalar-button{display:none!important}
`;
