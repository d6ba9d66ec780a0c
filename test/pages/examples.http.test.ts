/** The examples of the pages are tried as printed. A page with `http` blocks has a row here. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Answer, Service } from "../http/service.ts";
import { until } from "../until.ts";
import { Examples, type Trial } from "./examples.ts";
import { Made } from "./made.ts";
import { blockLike, codesIn, pageFiles, readPage, tableOf } from "./markdown.ts";

const tried = new Set<string>();

/** The configuration module that a page shows. */
function moduleOf(name: string): string {
  return blockLike(readPage(`docs/reference/${name}.md`), /export default defineConfig/).text;
}

/** Tries the examples of pages of the reference, or of a guide. `more` adds tests that follow them, against the same service. */
function page(names: string, trial: Trial = {}, more?: (examples: Examples) => void): void {
  const files = names.split(" ").map((name) => `docs/${name.includes("/") ? name : `reference/${name}`}.md`);
  for (const file of files) tried.add(file);
  const examples = new Examples(files, trial);
  describe(files.join(", "), () => {
    before(() => examples.start());
    after(() => examples.stop());
    for (const example of examples.list)
      test(`${example.request.first} gets what the page shows (${example.place})`, () =>
        examples.try(example));
    more?.(examples);
  });
}

/** The id of most pages. */
const id = "0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6";
const topic = `/api/v1/topics/${id}`;

/** Creates or replaces the resource of a path. */
function put(service: Service, path: string, content: object, headers = {}): Promise<Answer> {
  return service.send({ method: "PUT", path, headers, content: { id: path.split("/").at(-1), ...content } });
}

const creating = { "If-None-Match": "*" };

page("batch", { abridged: "errors" });
page("update-operators", { abridged: "errors" });
page("bulk", { abridged: "errors" });
page("import", { abridged: "all" });
page("rewind", { abridged: "all", service: (now) => ({ now }) });
page("requests");

page("code", { abridged: "errors", service: { module: moduleOf("code") } });

page("tasks", {
  abridged: "all",
  hasTimes: true,
  beforeRequest: {
    "GET /api/v1/_tasks/": (service, path) =>
      until("the task ends", async () => "endedAt" in ((await service.send({ path })).json as object)),
  },
});

page("figures", { resourcesOf: "orders" });

page("retries", {}, (examples) => {
  test("a request with the same key gets the stored response, and takes effect once", async () => {
    const [example] = examples.list;
    assert.ok(example);
    const [first, again] = [await examples.send(example), await examples.send(example)];
    assert.deepEqual(
      [again.status, again.text, again.headers["idempotent-replayed"]],
      [201, first.text, "true"],
    );
    const list = await examples.service.send({ path: "/api/v1/topics" });
    assert.deepEqual(list.json, [first.json]);
  });
});

page("related-resources", {
  abridged: "errors",
  prepare: async (service) => {
    for (const name of ["Ada", "Bob"]) await service.create("users", { name });
    for (const content of [
      { title: "Winter", authorId: 1 },
      { title: "Spring", authorId: 2 },
      { title: "Summer" },
    ])
      await service.create("articles", content);
    await service.create("comments", { text: "Good", votes: 3, articleId: 1 });
    await service.create("comments", { text: "Brilliant", votes: 7, articleId: 1 });
  },
});

page("resources", {
  service: { collections: { articles: {}, topics: {} } },
  requests: [["GET /api/v1", /^\{"collections":/]],
});

page("collections", {
  service: {
    collections: {
      topics: { timestamps: true },
      pages: {
        schema: {
          properties: { teamId: { type: "string", maxLength: 9 }, slug: { type: "string", maxLength: 9 } },
        },
        unique: [["teamId", "slug"]],
      },
    },
  },
  hasTimes: true,
  abridged: "errors",
  prepare: async (service) => {
    await put(service, topic, { title: "Winter" }, creating);
    await put(service, `/api/v1/pages/${id}`, { teamId: "a", slug: "b" }, creating);
  },
  requests: [
    [`GET ${topic}`, /^\{[^[]*"createdAt"/],
    ['POST /api/v1/pages\n\n{"teamId":"a","slug":"b"}', /^\{\s*"code": "UNIQUE_VIOLATION"/],
  ],
});

page("errors", {
  service: {
    collections: {
      topics: { schema: { type: "object", properties: { title: { type: "string", minLength: 1 } } } },
    },
  },
  requests: [['POST /api/v1/topics\n\n{"title":""}', /^\{\s*"type": "\/problems\//]],
});

page("limits", { service: { rate: { requests: 600, perSeconds: 60 } } });

const other = id.replace(/.$/, "7");
page("history", {
  hasTimes: true,
  except: /\?at=2026-01-31&/, // before the history of this service
  prepare: async (service) => {
    await put(service, topic, { title: "Autumn", status: "open" }, creating);
    await put(service, topic, { title: "Summer", status: "open" });
    const operations = [
      { method: "PATCH", path: `/topics/${id}`, body: { title: "Winter" } },
      { method: "POST", path: "/topics", body: {} }, // changes that are made together have a group
    ];
    await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    await service.send({ method: "DELETE", path: topic });
  },
  beforeRequest: {
    "GET /api/v1/topics/_deleted": (service) => service.send({ method: "DELETE", path: topic }),
    "POST /api/v1/topics/_deleted": async (service) => {
      const path = topic.replace(id, other);
      await put(service, path, { title: "Spring", status: "open" }, creating);
      await service.send({ method: "DELETE", path });
    },
  },
});

page(
  "events",
  {
    hasTimes: true,
    except: /_events$/, // a stream
    prepare: async (service) => {
      const { path } = await service.create("topics", { title: "Winter", status: "open" });
      await service.send({ method: "DELETE", path });
    },
  },
  (examples) => {
    const events = readPage("docs/reference/events.md");

    test("the table of the members has those of an event, in their order", async () => {
      const operations = [1, 2].map(() => ({ method: "POST", path: "/topics", body: {} }));
      await examples.service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
      const { json } = await examples.service.send({ path: "/api/v1/topics/_events" });
      const listed = tableOf(events, "member", "value").map(([name]) => codesIn(name)[0]);
      assert.deepEqual(listed, Object.keys((json as object[]).at(-1) ?? {}));
    });

    test("the stream of the reference is the one that a service sends", async (t) => {
      const { text: shown } = blockLike(events, /^retry: /);
      const [request = "", accept = ""] = blockLike(events, /^GET .*\nAccept: /).text.split("\n");
      const stop = new AbortController();
      t.after(() => stop.abort());
      const { body } = await fetch(`${examples.service.origin}${request.split(" ")[1]}`, {
        headers: { Accept: accept.split(": ")[1] ?? "" },
        signal: stop.signal,
      });
      let text = "";
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        if (text === "") await examples.service.create("topics", { title: "Winter" });
        text += chunk;
        if (text.split("\n\n").length === shown.split("\n\n").length + 1) break;
      }
      assert.equal(text.trimEnd(), new Made(true).inResponse(shown, text));
    });
  },
);

page("lists filters", { resourcesOf: "books" }, (examples) => {
  const lists = readPage("docs/reference/lists.md");
  const list = "/api/v1/books";
  const query = (cell = "") => `${list}?${codesIn(cell)[0]}`;

  for (const [cell, ids] of tableOf(lists, "query string", "ids", "which books"))
    test(`the list of ${cell} has the books ${ids}`, async () => {
      const { status, json, text } = await examples.service.send({ path: query(cell) });
      assert.equal(status, 200, text);
      assert.equal((json as { id: number }[]).map(({ id }) => id).join(", "), ids);
    });

  for (const [cell, message] of tableOf(lists, "query string", "message"))
    test(`the refusal of ${cell} has the message of the page`, async () => {
      const { status, json } = await examples.service.send({ path: query(cell) });
      assert.deepEqual([status, (json as { message: string }).message], [400, message]);
    });

  test("the reference knows every member of the content of QUERY, and no other", async () => {
    const { json } = await examples.service.send({ method: "QUERY", path: list, content: { unknown: 1 } });
    const members = tableOf(lists, "member", "value").map(([name]) => codesIn(name)[0]);
    assert.match((json as { message: string }).message, new RegExp(` ${members.join(", ")}\\.$`));
  });
});

page("exact-numbers", { resourcesOf: "sales" }, (examples) => {
  const exact = readPage("docs/reference/exact-numbers.md");
  const path = "/api/v1/sales";
  const code = (cell = "") => codesIn(cell)[0] ?? "";

  for (const [request, ids] of tableOf(exact, "request", "ids in the response"))
    test(`${request} finds the sales ${ids}`, async () => {
      const { status, json } = await examples.service.send({ path: `${path}?${encodeURI(code(request))}` });
      const found = status === 400 ? "400" : (json as { id: number }[]).map(({ id }) => id).join(", ");
      assert.equal(found, ids);
    });

  for (const [request, response] of tableOf(exact, "request", "response"))
    test(`the figures of ${request} are those of the page`, async () => {
      const { text } = await examples.service.send({ path: `${path}?${code(request)}` });
      assert.equal(text, code(response));
    });

  for (const [value, inPrice, inBytes] of tableOf(exact, "value", "in `price`", "in `bytes`"))
    test(`a service does with ${value} what the page says`, async () => {
      for (const [name, told] of Object.entries({ price: inPrice, bytes: inBytes })) {
        const content = { [name]: JSON.parse(code(value)) };
        const { status } = await examples.service.send({ method: "POST", path, content });
        assert.equal(status === 201 ? "accepted" : String(status), told, name);
      }
    });

  for (const [current, update, result = ""] of tableOf(exact, "current value", "update", "result"))
    test(`${update} makes ${result} of ${current}`, async () => {
      const given = current === "absent" ? {} : { price: JSON.parse(code(current)) };
      const created = await examples.service.send({ method: "POST", path, content: given });
      const { status, json } = await examples.service.send({
        method: "PATCH",
        path: created.headers.location as string,
        headers: { "Content-Type": "application/vnd.holdfast.update+json" },
        content: JSON.parse(code(update)),
      });
      const told = result.startsWith("400") ? 400 : JSON.parse(code(result));
      assert.equal(status === 200 ? (json as { price: string }).price : status, told);
    });
});

page("unique-keys", {}, (examples) => {
  const keys = readPage("docs/reference/unique-keys.md");
  const users = "/api/v1/users";
  const codeOf = ({ text }: Answer) =>
    text.startsWith("{") ? (JSON.parse(text) as { code?: string }).code : "";
  const outcome = (answer: Answer) => `${answer.status} ${codeOf(answer) ?? ""}`.trim();
  const told = (cell: string) => cell.replaceAll("`", "").replace(/[:,].*/, "");

  const cases = tableOf(keys, "request", "no resource has the key", "a resource has it");
  for (const [n, [request = "", absent = "", present = ""]] of cases.entries())
    test(`a service responds to ${request} as the page says`, async () => {
      const [method = ""] = codesIn(request);
      const [, header, value = ""] = /with `(.*?): (\*)`/.exec(request) ?? [];
      const headers = header === undefined ? {} : { [header]: value };
      for (const [email, expected] of [
        [`absent${n}@x.org`, absent],
        [`present${n}@x.org`, present],
      ] as const) {
        if (expected === present) await examples.service.create("users", { email });
        const content: Record<string, string> = { email, ...(request.includes("`id`") && { id: "other" }) };
        if (/other values|another value/.test(request)) content.email = `x${email}`;
        const path = `${users}?email=${email}`;
        const body = method === "DELETE" ? {} : { content };
        const answer = await examples.service.send({ method, path, headers, ...body });
        assert.equal(outcome(answer), told(expected));
      }
    });

  for (const [query = "", expected = ""] of tableOf(keys, "query", "response"))
    test(`a service responds to the query ${query} as the page says`, async () => {
      const path = query === "none" ? users : `${users}?${codesIn(query)[0]}`;
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        const content = method === "DELETE" ? {} : { content: {} };
        assert.equal(outcome(await examples.service.send({ method, path, ...content })), told(expected));
      }
    });
});

page("how-to/everyday", {}, (examples) => {
  const everyday = readPage("docs/how-to/everyday.md");

  for (const [want, request] of tableOf(everyday, "you want", "request", "more"))
    test(`the page says how to do this: ${want}`, async () => {
      for (const sent of requestsIn(request)) {
        const { status, text } = await examples.service.send(sent);
        assert.ok(status < 300, `${status} ${text}`);
        if (sent.method === "GET" && !sent.path.includes("limit=0")) assert.notEqual(text, "[]", sent.path);
      }
    });

  test("the page has at least twenty requests", () => {
    assert.ok(tableOf(everyday, "you want", "request", "more").length >= 20);
  });
});

test("every page with http blocks has a row here", () => {
  const others = pageFiles.filter((file) => !tried.has(file));
  assert.deepEqual(
    others.filter((file) => /^ *```http/m.test(readFileSync(file, "utf8"))),
    [],
  );
});

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The requests of a cell: pieces of code that begin with a method, each with its headers and its body behind it. */
function requestsIn(cell = ""): Sent[] {
  const requests: Sent[] = [];
  for (const code of codesIn(cell)) {
    const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(code) ?? [];
    const request = requests.at(-1);
    if (method !== undefined) requests.push({ method, path: `/api/v1${path}`, headers: {} });
    else if (request !== undefined && code.startsWith("{")) {
      request.body = code;
      request.headers["Content-Type"] ??= "application/json";
    } else if (request !== undefined) {
      const [name = "", value = ""] = code.split(": ");
      request.headers[name] = value;
    }
  }
  return requests;
}
