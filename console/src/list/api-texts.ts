/** Requests as text: for a shell, for `fetch`, and for `holdfast-client`. */

export type Language = "curl" | "fetch" | "holdfast-client";
export type Asked = "list" | "read" | "create" | "change";

interface ApiRequest {
  what: Asked;
  baseUrl: string;
  collection: string;
  /** The query string of the list. */
  query: string;
  id?: string | undefined;
  /** Attributes for a create or a change. */
  example: Readonly<Record<string, unknown>>;
  hasCredential: boolean;
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function requestText(language: Language, request: ApiRequest): string {
  return { curl, fetch: fetchText, "holdfast-client": clientText }[language](request);
}

const methods: Record<Asked, string> = { list: "GET", read: "GET", create: "POST", change: "PATCH" };

function urlOf({ what, baseUrl, collection, query, id = "" }: ApiRequest): string {
  const path = `${baseUrl}/${encodeURIComponent(collection)}`;
  if (what === "list") return query === "" ? path : `${path}?${query}`;
  return what === "create" ? path : `${path}/${encodeURIComponent(id)}`;
}

function headersOf({ what }: ApiRequest): [string, string][] {
  if (what === "create") return [["Content-Type", "application/json"]];
  if (what === "change")
    return [
      ["Content-Type", "application/merge-patch+json"],
      ["If-Match", "*"],
    ];
  return [];
}

function bodyOf({ what, example }: ApiRequest): string | undefined {
  return what === "create" || what === "change" ? JSON.stringify(example) : undefined;
}

function curl(request: ApiRequest): string {
  const body = bodyOf(request);
  const method = methods[request.what];
  return [
    `curl -g${method === "GET" ? "" : ` -X ${method}`} ${shellWord(urlOf(request))}`,
    ...(request.hasCredential ? [`-H "Authorization: Bearer $HOLDFAST_KEY"`] : []),
    ...headersOf(request).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellWord(body)}`]),
  ].join(" \\\n  ");
}

function fetchText(request: ApiRequest): string {
  const method = methods[request.what];
  const body = bodyOf(request);
  const headers = headersOf(request).map(
    ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  if (request.hasCredential) headers.unshift("Authorization: `Bearer $" + "{key}`");
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${body}),`]),
  ];
  const url = JSON.stringify(urlOf(request));
  const call = options.length === 0 ? `fetch(${url})` : `fetch(${url}, {\n${options.join("\n")}\n})`;
  return `const response = await ${call};\nconst body = await response.json();`;
}

function clientText(request: ApiRequest): string {
  const { what, baseUrl, collection, query, id = "", example, hasCredential } = request;
  const of = /^[a-z_$][\w$]*$/i.test(collection)
    ? `client.${collection}`
    : `client[${JSON.stringify(collection)}]`;
  const options = `{ baseUrl: ${JSON.stringify(baseUrl)}${hasCredential ? ", token: key" : ""} }`;
  const call = {
    list: `const { items } = await ${of}.list({ ${query === "" ? "" : `query: ${JSON.stringify(query)}, `}limit: 100 }).page();`,
    read: `const resource = await ${of}.get(${JSON.stringify(id)});`,
    create: `const made = await ${of}.create(${JSON.stringify(example)});`,
    change: `const resource = await ${of}.get(${JSON.stringify(id)});\nawait ${of}.patch(resource, ${JSON.stringify(example)});`,
  }[what];
  return `import { createClient } from "holdfast-client";\n\nconst client = createClient(${options});\n${call}`;
}

/** Attributes for an example: one value for each required attribute of a schema, or a title. */
export function exampleOf(schema: unknown): Record<string, unknown> {
  const { properties = {}, required = [] } = (
    typeof schema === "object" && schema !== null ? schema : {}
  ) as {
    properties?: Record<string, { type?: string | string[]; enum?: unknown[] }>;
    required?: string[];
  };
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  if (names.length === 0) return { title: "Hello" };
  return Object.fromEntries(names.map((name) => [name, exampleValue(properties[name])]));
}

function exampleValue(part: { type?: string | string[]; enum?: unknown[] } | undefined): unknown {
  if (part?.enum !== undefined) return part.enum[0];
  const type = Array.isArray(part?.type) ? part.type[0] : part?.type;
  const values: Record<string, unknown> = {
    integer: 1,
    number: 1,
    boolean: true,
    array: [],
    object: {},
    null: null,
  };
  return type !== undefined && type in values ? values[type] : "Hello";
}
