/** The examples of the OpenAPI documents, and their statements about callers, compared with a running service. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { auth } from "./access/callers.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";

const text = { type: "string" };

const article = {
  title: "Article",
  description: "What the journal has published.",
  type: "object",
  required: ["title", "status", "year"],
  properties: {
    title: { type: "string", minLength: 3, maxLength: 40 },
    year: { type: "integer", minimum: 1450, maximum: 2100 },
    price: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 },
    status: { enum: ["draft", "published"] },
    email: { type: "string", format: "email" },
    day: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    due: { format: "date-value" },
    site: { type: ["string", "null"], format: "uri" },
    key: { type: "string", format: "uuid" },
    tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1 },
    parts: { type: "array", items: { $ref: "#" } },
    author: { type: "object", required: ["name"], properties: { name: text }, additionalProperties: false },
    code: { type: "string", pattern: "^[A-Z]{3}$" },
    shelf: { type: "string", pattern: "^[A-Z]{3}$", examples: ["ABC"] },
    secret: text,
    rank: { type: "integer" },
  },
  $defs: { tag: { type: "string", maxLength: 10 } },
};

const declared: ServiceOptions = {
  info: { title: "The journal", version: "2.4.0", description: "Articles since 1951." },
  collections: {
    articles: {
      id: "integer",
      timestamps: true,
      defaults: { status: "draft" },
      attributes: { secret: { writeOnly: true }, rank: { readOnly: true } },
      schema: article,
    },
    plain: {},
  },
};

type Media = { schema: object; example?: unknown };
type Operation = {
  description: string;
  security?: object[];
  parameters?: { $ref?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { $ref?: string; content?: Record<string, Media> }>;
};
type Document = {
  info: Record<string, string>;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, { content?: Record<string, Media> }>;
    parameters: Record<string, Record<string, unknown>>;
  };
};

async function read(service: Service): Promise<Document> {
  return (await service.send({ path: "/openapi.json" })).json as Document;
}

function sendJson(service: Service, method: string, path: string, body: unknown, type = "application/json") {
  const content = body === undefined ? {} : { headers: { "Content-Type": type }, body: JSON.stringify(body) };
  return service.send({ method, path, ...content });
}

/** Every media type of a document that has a schema. */
function mediaOf(part: unknown, place: string): [place: string, media: Media][] {
  if (typeof part !== "object" || part === null) return [];
  const content = (part as { content?: Record<string, Media> }).content ?? {};
  const own = Object.entries(content).map(([type, media]): [string, Media] => [`${place} ${type}`, media]);
  return [...own, ...Object.entries(part).flatMap(([name, inner]) => mediaOf(inner, `${place}/${name}`))];
}

describe("the examples of a document", () => {
  let service: Service;
  let document: Document;
  before(async () => {
    // Ajv compiles schemas in the thread of the service.
    service = await startService(declared);
    document = await read(service);
  });
  after(() => service.stop());

  const operation = (method: string, path: string): Operation =>
    document.paths[`/api/v1${path}`]?.[method] ?? assert.fail(`${method} ${path}`);
  const exampleIn = (method: string, path: string, type = "application/json") =>
    operation(method, path).requestBody?.content[type]?.example as Record<string, unknown>;

  test("fit their schemas", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default(ajv);
    ajv.addFormat("date-value", true);
    ajv.addSchema({ $id: "document", ...document });
    const found = [...mediaOf(document.paths, ""), ...mediaOf(document.components, "")].filter(
      ([, { example }]) => example !== undefined,
    );
    assert.ok(found.length > 40, String(found.length));
    for (const [place, { schema, example }] of found) {
      const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
      assert.ok(ajv.validate(absolute, example), `${place}: ${JSON.stringify(example)} ${ajv.errorsText()}`);
    }
  });

  test("are accepted by the service, and the answer has the attributes of its example", async () => {
    for (const name of ["articles", "plain"]) {
      const body = exampleIn("post", `/${name}`);
      const created = await sendJson(service, "POST", `/api/v1/${name}`, body);
      assert.equal(created.status, 201, created.text);
      const { id, ...rest } = created.json as Record<string, unknown>;
      const told = operation("post", `/${name}`).responses[201]?.content?.["application/json"]?.example;
      assert.deepEqual(
        Object.keys(told as object)
          .filter((each) => each !== "rank")
          .sort(),
        ["id", ...Object.keys(rest)].sort(),
      );
      const path = `/api/v1/${name}/${id}`;
      const replaced = await sendJson(service, "PUT", path, { ...exampleIn("put", `/${name}/{id}`), id });
      assert.equal(replaced.status, 200, replaced.text);
      for (const type of ["application/merge-patch+json", "application/json-patch+json"]) {
        const patch = exampleIn("patch", `/${name}/{id}`, type);
        const patched = await sendJson(service, "PATCH", path, patch, type);
        assert.equal(patched.status, 200, patched.text);
      }
    }
  });

  test("use the schema's own examples, and leave out what cannot be made up", () => {
    const example = exampleIn("post", "/articles");
    assert.equal(example.shelf, "ABC");
    assert.equal(example.year, 1951);
    assert.ok(!("code" in example) && !("rank" in example) && "secret" in example);
  });

  test("every error status has a sentence and problem details with that status", () => {
    const { NotFound, AnyProblem, ...responses } = document.components.responses;
    assert.ok(NotFound !== undefined && AnyProblem !== undefined && Object.keys(responses).length > 5);
    const details = new Set(
      Object.values(responses).map(({ content }) => {
        const { example } = content?.["application/problem+json"] ?? assert.fail();
        return (example as { detail: string }).detail;
      }),
    );
    assert.equal(details.size, Object.keys(responses).length);
  });

  test("title, version and description come from the configuration, tags from the schemas", () => {
    assert.equal(document.info.title, "The journal");
    assert.equal(document.info.version, "2.4.0");
    assert.match(document.info.description ?? "", /^Articles since 1951\.\n\n/);
    assert.equal(document.tags[0]?.description, "What the journal has published.");
  });

  test("parameters of other servers are marked as aliases, and no others", () => {
    const { parameters } = document.components;
    const marked = Object.keys(parameters).filter((name) => parameters[name]?.["x-holdfast-alias"] === true);
    assert.deepEqual(marked.sort(), [
      "_end",
      "_limit",
      "_order",
      "_page",
      "_per_page",
      "_sort",
      "_start",
      "range",
    ]);
  });
});

const access = {
  open: { read: "public", write: "public" },
  shown: { read: "public", write: "authenticated" },
  drop: { create: "public", read: { role: "editor" } },
  closed: { read: "authenticated", write: { role: "editor" } },
} as const;

describe("what a document says of credentials", () => {
  let service: Service;
  let document: Document;
  before(async () => {
    const collections = Object.fromEntries(
      Object.entries(access).map(([name, rules]) => [name, { access: rules }]),
    );
    service = await startService({ auth, collections });
    document = await read(service);
  });
  after(() => service.stop());

  for (const [name, rules] of Object.entries(access))
    test(`is what the service does with ${JSON.stringify(rules)}`, async () => {
      const requests = [
        ["get", "", undefined],
        ["post", "", { title: "x" }],
        ["get", "/{id}", undefined],
        ["put", "/{id}", { id: "nowhere", title: "x" }],
        ["delete", "/{id}", undefined],
      ] as const;
      for (const [method, below, body] of requests) {
        const operation = document.paths[`/api/v1/${name}${below}`]?.[method] ?? assert.fail();
        const path = `/api/v1/${name}${below.replace("{id}", "nowhere")}`;
        const { status } = await sendJson(service, method.toUpperCase(), path, body);
        const isPublic = operation.security?.some((each) => Object.keys(each).length === 0) === true;
        assert.equal(status === 401, !isPublic, `${method} ${path}: ${status}`);
        assert.match(operation.description, isPublic ? /It is public\./ : /It needs a credential\./);
      }
    });
});
