/** The documents that describe a service. Holding them against the judges takes about twenty seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { folder, run } from "../commands/cli.ts";
import { auth } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";

const text = { type: "string" };

/** Everything that a declaration may say, and names that could collide. */
const declared: ServiceOptions = {
  rate: { requests: 1_000, perSeconds: 60 },
  collections: {
    users: {
      id: "integer",
      attributes: { password: { writeOnly: true } },
      schema: { type: "object", required: ["name"], properties: { name: text, password: text } },
    },
    articles: {
      timestamps: true,
      requirePreconditions: true,
      search: ["title"],
      unique: ["slug"],
      references: { authorId: "users" },
      defaults: { status: "draft", due: "$now" },
      schema: {
        title: "Article",
        description: "What is written.",
        $defs: { tag: { $anchor: "tag", type: "string" } },
        type: "object",
        required: ["title", "status"],
        properties: {
          title: { type: "string", minLength: 1 },
          slug: { type: "string", maxLength: 50 },
          authorId: { type: "integer" },
          status: { enum: ["draft", "published"] },
          due: { format: "date-value" },
          shown: { type: ["string", "number", "null"], format: "date-value" },
          tags: { type: "array", items: { $ref: "#tag" } },
          parts: { type: "array", items: { $ref: "#" } },
          main: { $ref: "#/$defs/tag" },
          count: { type: ["integer", "null"] },
        },
      },
    },
    article: {},
    // The service has paths of these names outside the prefix.
    problems: {},
    livez: {},
    blog_posts: { schema: { properties: { a: text }, additionalProperties: true } },
    blogPosts: {},
    Service: {},
    odd: { schema: { allOf: [{ properties: { a: text }, additionalProperties: false }] } },
  },
};

const guarded: ServiceOptions = {
  auth,
  prefix: "/shop/v2",
  collections: {
    people: {
      access: { read: "public", write: { role: "editor" } },
      attributes: { salary: { roles: ["hr"] } },
      schema: { type: "object", properties: { name: text, salary: { type: "number" } } },
    },
    notes: {},
  },
};

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

/** The findings of a judge; none is the empty string. */
async function judge(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const script = `test/node_modules/.bin/${command}`;
  return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
}

describe("the documents of a service", () => {
  const services: Record<string, Service> = {};
  before(async () => {
    // The services after the first are started, and their schemas compiled, in the thread of the ones before.
    const probe = { standstillMs: 2_000 };
    services.open = await startService({ probe });
    services.declared = await startService({ ...declared, probe });
    services.guarded = await startService({ ...guarded, probe });
  });
  after(() => Promise.all(Object.values(services).map((service) => service.stop())));

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

  test("satisfy Spectral and Redocly", async (t) => {
    // No option sets the contact and the license of the interface.
    // `/{collection}/_events` and `/_webhooks/{id}` both match `/_webhooks/_events`, where nothing exists.
    const cwd = await folder(t, {
      "redocly.yaml": "extends: [recommended]\nrules:\n  info-license: off\n  no-ambiguous-paths: off\n",
      "spectral.yaml": 'extends: ["spectral:oas"]\nrules:\n  info-contact: off\n',
    });
    const files: string[] = [];
    for (const [name, service] of Object.entries(services))
      for (const version of ["openapi", "openapi-3.2"]) {
        const file = join(cwd, `${name}-${version}.json`);
        await writeFile(file, (await service.send({ path: `/${version}.json` })).text);
        files.push(file);
      }
    const redocly = await judge("redocly", [
      "lint",
      "--format=json",
      "--config",
      join(cwd, "redocly.yaml"),
      ...files,
    ]);
    const found = [...redocly.matchAll(/"(?:errors|warnings)": (\d+)/g)].map(([, count]) => count);
    assert.deepEqual(found, Array(2 * files.length).fill("0"), redocly);
    // Spectral knows nothing of OpenAPI 3.2 yet.
    const older = files.filter((file) => file.endsWith("openapi.json"));
    const spectral = await judge("spectral", [
      "lint",
      "--format=json",
      "--fail-severity=hint",
      "-r",
      join(cwd, "spectral.yaml"),
      ...older,
    ]);
    assert.deepEqual(JSON.parse(spectral.slice(spectral.indexOf("["), spectral.lastIndexOf("]") + 1)), []);
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
    const cwd = await folder(t, { "holdfast.config.json": config });
    const served = await (services.declared as Service).send({ path: "/openapi-3.2.json" });
    const { stdout, exitCode } = await run(t, ["openapi", "--version", "3.2"], { cwd });
    assert.equal(exitCode, 0);
    assert.deepEqual(JSON.parse(stdout), served.json);
  });
});

test("with docs: false a service does not describe itself", async (t) => {
  const service = await startService({ docs: false });
  t.after(() => service.stop());
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
  const service = await startService();
  t.after(() => service.stop());
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
