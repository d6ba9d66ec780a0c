/** The documents that describe a service. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { run } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { check } from "./check.ts";
import { declared, startDescribed, unusual } from "./openapi-services.ts";
import { type Service, startFor, startService } from "./service.ts";

type Document = Record<string, never> & {
  openapi: string;
  security: unknown[];
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, { properties?: object; required?: string[] }>; responses: object };
};

async function read(service: Service, path = "/openapi.json"): Promise<Document> {
  const answer = await service.send({ path });
  check(answer, {
    status: 200,
    headers: { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" },
  });
  return answer.json as Document;
}

function operationsOf({ paths }: Document): Record<string, unknown>[] {
  const methods = ["get", "put", "post", "patch", "delete", "query"];
  return Object.values(paths).flatMap((item) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [item[method]])),
  );
}

/** Every schema of a document, with its place. */
function* schemasOf(
  part: unknown,
  place = "#",
  isSchema = false,
): Generator<[place: string, schema: unknown]> {
  if (isSchema) yield [place, part];
  if (typeof part !== "object" || part === null) return;
  const inSchemas = ["properties", "patternProperties", "schemas", "allOf", "anyOf", "oneOf", "prefixItems"];
  const asSchema = ["schema", "itemSchema", "items", "additionalProperties", "contentSchema", "not"];
  for (const [name, inner] of Object.entries(part)) {
    if (["example", "examples", "const", "enum", "default"].includes(name) && !place.endsWith("properties"))
      continue;
    const isOf = inSchemas.some((each) => place.endsWith(`/${each}`)) || asSchema.includes(name);
    yield* schemasOf(inner, `${place}/${name}`, isOf && !inSchemas.includes(name));
  }
}

/** What generators of code do not understand in a schema. */
function faultsOf(schema: unknown, { components }: Document): string[] {
  if (typeof schema === "boolean") return [];
  const {
    $ref,
    type,
    const: only,
    allOf,
    items,
    prefixItems,
    enum: choices,
  } = schema as Record<string, unknown>;
  const [, , , name = "", ...deeper] = String($ref ?? "").split("/");
  const others = (Array.isArray(allOf) ? allOf : []) as { $ref?: string; properties?: object }[];
  const known = others.flatMap((each) =>
    Object.keys(components.schemas[each.$ref?.split("/").at(-1) ?? ""]?.properties ?? {}),
  );
  const narrowed = others.flatMap(({ properties }) => Object.keys(properties ?? {}));
  const names = Array.isArray(choices) ? choices.map((each) => String(each).toLowerCase()) : [];
  return [
    ...(only !== undefined && type === undefined ? ["has a constant without a type"] : []),
    ...(deeper.length > 0 ? ["refers to a part of a component"] : []),
    ...($ref !== undefined && components.schemas[name] === undefined ? ["refers to nothing"] : []),
    ...(narrowed.some((each) => known.includes(each)) ? ["narrows a member of another schema"] : []),
    ...(type === "array" && items === undefined && prefixItems === undefined ? ["has no items"] : []),
    ...(new Set(names).size < names.length ? ["has choices with the same name"] : []),
  ];
}

describe("the documents of a service", () => {
  const services: Record<string, Service> = {};
  before(async () => void Object.assign(services, await startDescribed()));
  after(() => Promise.all(Object.values(services).map((service) => service.stop())));

  test("are in a form that generators of code understand", async (t) => {
    const strange = await startService(unusual);
    t.after(() => strange.stop());
    for (const service of [...Object.values(services), strange])
      for (const path of ["/openapi.json", "/openapi-3.2.json"]) {
        const document = await read(service, path);
        const faults = [...schemasOf(document)].flatMap(([place, schema]) =>
          faultsOf(schema, document).map((fault) => `${place} ${fault}`),
        );
        assert.deepEqual(faults, []);
      }
  });

  test("describe declared schemas in that form without a loss", async (t) => {
    const strange = await startService(unusual);
    t.after(() => strange.stop());
    const { schemas } = (await read(strange)).components;
    const { properties = {}, ...part } = schemas.PartInput as { description?: string; properties?: object };
    assert.equal(part.description, "Part of a machine.");
    const { kind, five, mixed, pair, seller, whole, screw, filter } = properties as Record<string, unknown>;
    assert.deepEqual(kind, { type: "string", const: "part" });
    assert.deepEqual(five, { type: "integer", enum: [5] });
    assert.deepEqual(mixed, {
      anyOf: [
        { type: "string", const: "a" },
        { type: "integer", const: 1 },
        { type: "null", const: null },
      ],
    });
    assert.deepEqual(pair, {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: { not: {} },
    });
    const refOf = (schema: unknown) => (schema as { $ref?: string } | undefined)?.$ref;
    const definition = (name: string) => `#/components/schemas/PartDefinition_${name}`;
    assert.deepEqual([refOf(seller), refOf(screw)], [definition("maker"), definition("ascrew")]);
    assert.equal(refOf(whole), "#/components/schemas/PartInput");
    assert.equal((filter as { title: string }).title, "filter attribute");
    const { PartDefinition_ascrew: inner, PartDefinition_glue: glue } = schemas;
    assert.equal(refOf((inner?.properties as { with?: unknown } | undefined)?.with), definition("glue"));
    assert.deepEqual(glue?.properties, { kind: { type: "string", const: "glue" } });
    assert.equal((glue as { description?: string }).description, "Glue.");
    assert.equal(Object.hasOwn(part, "$defs"), false);
  });

  test("name the types of a date value", async () => {
    const { components } = await read(services.declared as Service);
    const { properties = {} } = components.schemas.ArticleInput ?? {};
    const { due, shown } = properties as Record<string, { type: unknown }>;
    assert.deepEqual(due?.type, ["string", "integer"]);
    assert.deepEqual(shown?.type, ["string", "integer"]);
  });

  test("say for every method of a collection that an impossible name is 404", async () => {
    const open = services.open as Service;
    const { paths } = await read(open, "/openapi-3.2.json");
    for (const method of ["GET", "POST", "QUERY"]) {
      const told = paths["/api/v1/{collection}"]?.[method.toLowerCase()] as { responses: object };
      assert.ok("404" in told.responses, method);
      const content = method === "GET" ? {} : { content: {} };
      check(await open.send({ method, path: "/api/v1/1-no-name", ...content }), { status: 404 });
    }
  });

  test("say that a cursor is not empty, as the service does", async () => {
    const { components } = (await read(services.declared as Service)) as unknown as {
      components: {
        parameters: { cursor: { schema: object } };
        schemas: { ListQuery?: { properties: { cursor: object } } };
      };
    };
    assert.deepEqual(components.parameters.cursor.schema, { type: "string", minLength: 1 });
    const path = "/api/v1/articles?cursor=";
    check(await (services.declared as Service).send({ path }), { status: 400, problem: "INVALID_CURSOR" });
  });

  test("name each operation and each schema once, also without regard to case", async () => {
    for (const service of Object.values(services)) {
      const document = await read(service, "/openapi-3.2.json");
      const ids = operationsOf(document).map(({ operationId }) => String(operationId).toLowerCase());
      assert.equal(new Set(ids).size, ids.length);
      const schemas = Object.keys(document.components.schemas).map((name) => name.toLowerCase());
      assert.equal(new Set(schemas).size, schemas.length);
    }
  });

  test("have names that read well", async () => {
    const ids = operationsOf(await read(services.declared as Service)).map(({ operationId }) => operationId);
    for (const id of [
      "listUsers",
      "createUser",
      "getUser",
      "replaceUser",
      "patchUser",
      "deleteUser",
      "listUserChanges",
      "restoreUser",
      "createArticle",
      "listBlogPosts",
      "runBatch",
    ])
      assert.ok(ids.includes(id), id);
  });

  test("have QUERY in the later version alone", async () => {
    const { open } = services;
    const older = await read(open as Service);
    const later = await read(open as Service, "/openapi-3.2.json");
    assert.deepEqual([older.openapi, later.openapi], ["3.1.2", "3.2.0"]);
    assert.equal(older.paths["/api/v1/{collection}"]?.query, undefined);
    assert.equal(later.paths["/api/v1/{collection}"]?.query?.operationId, "queryResources");
  });

  test("tell what is sent from what is answered", async () => {
    const { Article, ArticleInput, User, UserInput } = (await read(services.declared as Service)).components
      .schemas;
    assert.deepEqual(Article?.required, ["id", "title", "status"]);
    assert.deepEqual(ArticleInput?.required, ["title"], "what has a default need not be sent");
    assert.deepEqual(Object.keys(Article?.properties ?? {}).slice(-2), ["createdAt", "updatedAt"]);
    assert.ok(!Object.hasOwn(ArticleInput?.properties ?? {}, "id"));
    assert.deepEqual(Object.keys(User?.properties ?? {}), ["id", "name", "password"]);
    assert.deepEqual(Object.entries(UserInput?.properties ?? {})[1], [
      "password",
      { type: "string", writeOnly: true },
    ]);
  });

  test("say who may call, and nothing of attributes that are for some", async () => {
    const document = await read(services.guarded as Service);
    assert.deepEqual(document.security, [{ bearer: [] }]);
    assert.deepEqual(document.paths["/shop/v2/people"]?.get?.security, [{}, { bearer: [] }]);
    assert.equal(document.paths["/shop/v2/people"]?.post?.security, undefined);
    assert.deepEqual(document.paths["/livez"]?.get?.security, []);
    assert.ok(!JSON.stringify(document).includes("salary"));
    assert.deepEqual((await read(services.open as Service)).security, []);
  });

  test("are led to by a catalogue", async () => {
    const answer = await (services.guarded as Service).send({ path: "/.well-known/api-catalog" });
    const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
    check(answer, {
      status: 200,
      headers: {
        "Content-Type": type,
        "Cache-Control": "no-store",
        Link: '</.well-known/api-catalog>; rel="api-catalog"',
      },
    });
    const { linkset } = answer.json as { linkset: Record<string, unknown>[] };
    assert.equal(linkset[0]?.anchor, "/shop/v2");
    assert.deepEqual(linkset[0]?.["service-doc"], [{ href: "/docs", type: "text/html" }]);
  });

  test("take no parameters", async () => {
    const paths = [
      "/openapi.json",
      "/openapi-3.2.json",
      "/asyncapi.json",
      "/.well-known/api-catalog",
      "/problems/invalid-parameter",
    ];
    for (const path of paths)
      check(await (services.open as Service).send({ path: `${path}?x=1` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
      });
  });

  test("are what holdfast openapi writes, without a service", async (t) => {
    const { openCollections, collections, rate } = { openCollections: false, ...declared };
    const config = JSON.stringify({ openCollections, collections, limits: { rate } });
    const cwd = makeFolder({ "holdfast.config.json": config });
    const served = await (services.declared as Service).send({ path: "/openapi-3.2.json" });
    const { stdout, exitCode } = await run(t, ["openapi", "--version", "3.2"], { cwd });
    assert.equal(exitCode, 0);
    assert.deepEqual(JSON.parse(stdout), served.json);
  });
});

test("with docs: false a service does not describe itself", async (t) => {
  const service = await startFor(t, { docs: false });
  for (const path of [
    "/openapi.json",
    "/openapi-3.2.json",
    "/docs",
    "/docs/start.js",
    "/.well-known/api-catalog",
  ])
    check(await service.send({ path }), { status: 404 });
  const options = await service.send({ method: "OPTIONS", path: "/api/v1/topics" });
  assert.equal(options.headers.link, undefined);
});

test("the page has the files that it needs, and no path leads to another", async (t) => {
  const service = await startFor(t);
  const page = await service.send({ path: "/docs" });
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.doesNotMatch(page.headers["content-security-policy"] ?? "", /script-src[^;]*unsafe|\*|https?:/);
  for (const [, path = ""] of page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g))
    assert.equal((await service.send({ path: `/${path}` })).status, 200, path);
  for (const path of [
    "package.json",
    "..%2Fpackage.json",
    "%2e%2e%2fpackage.json",
    "index.html",
    "__proto__",
    "toString",
  ])
    check(await service.send({ path: `/docs/${path}` }), { status: 404 });
});
