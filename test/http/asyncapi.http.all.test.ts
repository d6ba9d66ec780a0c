/** The AsyncAPI document is valid, and events fit it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Parser } from "@asyncapi/parser";
import { Ajv } from "ajv";
import { auth } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Service, type ServiceOptions, startFor, startServiceForFile } from "./service.ts";

const text = { type: "string" };

const declared: ServiceOptions = {
  info: { title: "The journal", version: "2.4.0", description: "Articles since 1951." },
  collections: {
    articles: {
      timestamps: true,
      attributes: { secret: { writeOnly: true } },
      schema: {
        title: "Article",
        description: "What is written.",
        $defs: { tag: { type: "string" } },
        required: ["title"],
        properties: {
          title: { type: "string", minLength: 1 },
          secret: text,
          due: { format: "date-value" },
          place: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], items: text },
          tags: { type: "array", items: { $ref: "#/$defs/tag" } },
          parts: { type: "array", items: { $ref: "#" } },
        },
      },
    },
    users: { id: "integer" },
    // The service has names like these.
    service: {},
    event: {},
  },
};

const guarded: ServiceOptions = {
  auth,
  prefix: "/shop/v2",
  collections: {
    people: { access: { read: "public" }, attributes: { salary: { roles: ["hr"] } } },
    notes: {},
  },
};

interface Document {
  asyncapi: string;
  info: { title: string; version: string; description: string };
  channels: Record<string, { address: string; messages: Record<string, { $ref: string }> }>;
  operations: Record<
    string,
    { security?: unknown; bindings: { http: { query: { properties: Record<string, unknown> } } } }
  >;
  components: { schemas: object; messages: Record<string, { payload: object }> };
}

const services: Record<string, Service> = {
  open: await startServiceForFile(),
  declared: await startServiceForFile(declared),
  guarded: await startServiceForFile(guarded),
};

function serviceOf(name: string): Service {
  return services[name] ?? assert.fail(name);
}

async function read(name: string): Promise<Document> {
  const answer = await serviceOf(name).send({ path: "/asyncapi.json" });
  check(answer, {
    status: 200,
    headers: { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" },
  });
  return answer.json as Document;
}

describe("the AsyncAPI document", () => {
  // The document does not know the host and the terms of service.
  const notOurs = new Set([
    "asyncapi-latest-version",
    "asyncapi3-tags",
    "asyncapi-info-contact",
    "asyncapi-info-license",
    "asyncapi-servers",
  ]);

  for (const name of ["open", "declared", "guarded"])
    test(`of the service "${name}" is valid`, async () => {
      const { document, diagnostics } = await new Parser().parse(JSON.stringify(await read(name)));
      assert.deepEqual(
        diagnostics.filter(({ code }) => !notOurs.has(String(code))),
        [],
      );
      assert.equal(document?.version(), "3.1.0");
    });

  test("that is broken is not valid", async () => {
    const document = await read("declared");
    const { diagnostics } = await new Parser().parse(JSON.stringify({ ...document, operations: { x: {} } }));
    assert.ok(diagnostics.some(({ severity }) => severity === 0));
  });

  test("has a channel for each path of events, and the parameters of a stream", async () => {
    const addresses = async (name: string) =>
      Object.values((await read(name)).channels).map(({ address }) => address);
    assert.deepEqual(await addresses("open"), ["/api/v1/{collection}/_events", "/api/v1/_events"]);
    assert.deepEqual(await addresses("guarded"), [
      "/shop/v2/people/_events",
      "/shop/v2/notes/_events",
      "/shop/v2/_events",
    ]);
    const { operations, info } = await read("declared");
    const parametersOf = (id: string) => Object.keys(operations[id]?.bindings.http.query.properties ?? {});
    assert.deepEqual(parametersOf("listArticleEvents"), ["filter", "fields", "since", "lastEventId"]);
    assert.deepEqual(parametersOf("listEvents"), ["collection", "fields", "since", "lastEventId"]);
    assert.equal(info.title, "The journal");
    assert.match(info.description, /^Articles since 1951\.\n\n/);
  });

  test("says which streams need a credential, and nothing of attributes that are for some", async () => {
    const document = await read("guarded");
    assert.deepEqual(document.operations.listNoteEvents?.security, [
      { $ref: "#/components/securitySchemes/bearer" },
    ]);
    assert.equal(document.operations.listPersonEvents?.security, undefined);
    assert.doesNotMatch(JSON.stringify(document), /salary/);
  });

  test("is linked from the catalogue, and missing without docs", async (t) => {
    const { json } = await serviceOf("open").send({ path: "/.well-known/api-catalog" });
    const { linkset } = json as { linkset: { "service-desc": { href: string }[] }[] };
    assert.deepEqual(
      linkset[0]?.["service-desc"].map(({ href }) => href),
      ["/openapi.json", "/openapi-3.2.json", "/asyncapi.json"],
    );
    const silent = await startFor(t, { docs: false });
    check(await silent.send({ path: "/asyncapi.json" }), { status: 404 });
  });

  test("describes the events that the service sends, each by one message", async () => {
    const service = serviceOf("declared");
    const { path } = await service.create("articles", {
      title: "One",
      secret: "x",
      place: [1, 2, "north"],
      parts: [{ title: "Two" }],
    });
    await service.send({ method: "PATCH", path, content: { title: "Other" } });
    await service.send({ method: "DELETE", path });
    await service.create("users", { name: "Ada" });
    const document = await read("declared");
    const ajv = new Ajv({ strict: false, validateFormats: false, schemas: { document } });
    const fits = (channel: string, event: unknown) =>
      Object.entries(document.channels[channel]?.messages ?? {}).flatMap(([name, { $ref }]) => {
        const { payload } = document.components.messages[$ref.split("/").at(-1) ?? ""] ?? assert.fail($ref);
        const schema = JSON.parse(JSON.stringify(payload).replaceAll('"#/', '"document#/')) as object;
        return ajv.validate(schema, event) ? [name] : [];
      });
    const { json: ofArticles } = await service.send({ path: "/api/v1/articles/_events" });
    const events = ofArticles as { data: { place?: unknown[] } }[];
    assert.deepEqual(
      events.map((event) => fits("Articles", event)),
      [["ArticleCreated"], ["ArticleUpdated"], ["ArticleDeleted"]],
    );
    const [first] = events;
    assert.deepEqual(fits("Articles", { ...first, data: { ...first?.data, place: [1, "x"] } }), []);
    const { json: ofAll } = await service.send({ path: "/api/v1/_events" });
    for (const event of ofAll as unknown[]) assert.deepEqual(fits("service", event), ["Event"]);
    assert.equal((ofAll as unknown[]).length, 4);
  });
});
