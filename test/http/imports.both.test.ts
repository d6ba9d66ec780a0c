/** `POST <collection>/_import`: many resources at once, while the service runs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { problems } from "../../src/errors.ts";
import { machineTime } from "../until.ts";
import { check, checkCommonHeaders } from "./check.ts";
import { eventsOf, linkOf, sinceOf } from "./follow.ts";
import { type Answer, type Request, startServiceForFile } from "./service.ts";

const collections = {
  topics: {
    schema: {
      type: "object",
      required: ["title"],
      properties: {
        title: { type: "string", minLength: 1 },
        slug: { type: "string", maxLength: 50 },
        year: { type: "integer" },
        parentId: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
      },
      additionalProperties: false,
    },
    unique: ["slug"],
    references: { parentId: "topics" },
    search: ["title"],
    indexes: ["year"],
  },
  numbers: { id: "integer" },
  stamped: { timestamps: true },
} as const;

const service = await startServiceForFile({ collections, openCollections: true });

let made = 0;
const newName = () => `c${++made}`;

const ndjson = "application/x-ndjson";

interface Sent {
  type?: string;
  query?: string;
  headers?: Request["headers"];
}

function send(name: string, body: string | Buffer, { type = ndjson, query = "", headers }: Sent = {}) {
  return service.send({
    method: "POST",
    path: `/api/v1/${name}/_import${query}`,
    headers: { "Content-Type": type, ...headers },
    body,
  });
}

interface Report {
  dryRun: boolean;
  complete: boolean;
  resources: number;
  invalid: number;
  imported: number;
  errors: {
    line: number;
    element?: number;
    pointer?: string;
    code: string;
    detail: string;
    value?: string;
  }[];
  generatedIds: Ids;
  replacedIds: Ids;
  stringIds: Ids;
  reusedIds: Ids;
}

interface Ids {
  count: number;
  first: unknown[];
}

function reportOf(answer: Answer): Report {
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Report;
}

/** The report in the error of an import that was refused. */
function refusalOf(answer: Answer): Report {
  check(answer, { status: 400, problem: "INVALID_IMPORT" });
  return (answer.json as { report: Report }).report;
}

const list = async (name: string, query = "") =>
  (await service.send({ path: `/api/v1/${name}${query}` })).json as Record<string, unknown>[];

const lines = (...resources: object[]) => resources.map((each) => `${JSON.stringify(each)}\n`).join("");

describe("what is imported", () => {
  for (const [type, body] of [
    [ndjson, '{"id":"a","title":"A","year":1}\n\n{"id":"b","title":"é","year":null}\n'],
    ["application/ndjson", '{"id":"a","title":"A","year":1}\n{"id":"b","title":"é","year":null}'],
    [
      "application/jsonl; charset=utf-8",
      '{"id":"a","title":"A","year":1}\r\n{"id":"b","title":"é","year":null}',
    ],
    ["application/json", ' [{"id":"a","title":"A","year":1},\n{"id":"b","title":"é","year":null}] '],
  ] as const)
    test(`${type}`, async () => {
      const name = newName();
      const answer = await send(name, body, { type });
      checkCommonHeaders(answer, { "cache-control": "no-store" });
      const none = { count: 0, first: [] };
      assert.deepEqual(reportOf(answer), {
        dryRun: false,
        complete: true,
        resources: 2,
        invalid: 0,
        imported: 2,
        errors: [],
        generatedIds: none,
        replacedIds: none,
        stringIds: none,
        reusedIds: none,
      });
      assert.deepEqual(await list(name), [
        { id: "a", title: "A", year: 1 },
        { id: "b", title: "é", year: null },
      ]);
    });

  test("JSON5 is named, and other faults of JSON are not called so", async () => {
    const detailOf = async (body: string) => refusalOf(await send(newName(), body)).errors[0]?.detail ?? "";
    for (const body of ["{id: 'a'}", "{'id': \"a\"}", '{"id":"a",}', '{"id":"a"} // b'])
      assert.match(await detailOf(body), /looks like JSON5\. Convert it to JSON first/, body);
    for (const body of ['{"id":"a" "b":1}', '{"a":"{b: 1}"', '{"a":"http://x"'])
      assert.doesNotMatch(await detailOf(body), /JSON5/, body);
  });

  test("one object with a list in it, when the place of the list is named", async () => {
    const [name, other] = [newName(), newName()];
    const body = JSON.stringify({ type: "FeatureCollection", features: [{ id: "a" }, { id: "b" }] }, null, 2);
    for (const type of [ndjson, "application/json"]) {
      const refused = await send(name, body, { type });
      check(refused, { status: 400, problem: "INVALID_IMPORT" });
      assert.match(refused.text, /add \?at=features to the path/);
      const { imported } = reportOf(await send(name, body, { type, query: "?at=features&dryRun=true" }));
      assert.equal(imported, 2);
    }
    reportOf(await send(name, body, { query: "?at=features" }));
    assert.deepEqual(await list(name), [{ id: "a" }, { id: "b" }]);
    assert.equal(reportOf(await send(other, body, { query: "?at=." })).imported, 1);
    const lost = await send(name, body, { query: "?at=feature" });
    assert.match(lost.text, /no member \\"feature\\". Did you mean \\"features\\"\?/);
    for (const [type, at] of [
      [ndjson, "a..b"],
      ["text/csv", "a"],
    ] as const)
      check(await send(name, "", { type, query: `?at=${at}` }), {
        status: 400,
        problem: "INVALID_PARAMETER",
      });
  });

  test("CSV, whose cells have the types of the schema", async () => {
    const csv = 'id;title;year;tags\ncsv-1;"One; two";1999;"[""x""]"\ncsv-2;Two;;\n';
    const { imported } = reportOf(await send("topics", csv, { type: "text/csv", query: "?delimiter=%3B" }));
    assert.equal(imported, 2);
    assert.deepEqual(await list("topics", "?id:in=csv-1,csv-2"), [
      { id: "csv-1", title: "One; two", year: 1999, tags: ["x"] },
      { id: "csv-2", title: "Two" },
    ]);
  });

  test("ids that are missing are generated, and the report names them", async () => {
    const name = newName();
    const report = reportOf(await send(name, lines({ n: 1 }, { id: 7 }, { id: "kept" })));
    assert.deepEqual(report.generatedIds, { count: 1, first: [{ line: 1 }] });
    assert.deepEqual(report.stringIds, { count: 1, first: [{ line: 2, id: "7" }] });
    const ids = (await list(name)).map(({ id }) => String(id));
    assert.equal(ids.length, 3);
    assert.ok(ids.includes("7") && ids.includes("kept"));
  });

  test("the report counts the ids of deleted resources, and a dry run does too", async () => {
    const name = newName();
    reportOf(await send(name, lines({ id: "a" }, { id: "b" })));
    for (const id of ["a", "b"])
      check(await service.send({ method: "DELETE", path: `/api/v1/${name}/${id}` }), { status: 205 });
    const again = lines({ id: "new" }, { id: "b", n: 2 }, { id: "a", n: 1 });
    const expected = {
      count: 2,
      first: [
        { line: 2, id: "b" },
        { line: 3, id: "a" },
      ],
    };
    for (const query of ["?dryRun=true", ""])
      assert.deepEqual(reportOf(await send(name, again, { query })).reusedIds, expected);
    assert.deepEqual(reportOf(await send(name, lines({ id: "newer" }))).reusedIds, { count: 0, first: [] });
  });

  test("integer ids that are missing come after those of the body", async () => {
    reportOf(await send("numbers", lines({ n: "first" }, { id: 41, n: "second" }, { n: "third" })));
    assert.deepEqual(await list("numbers"), [
      { id: 41, n: "second" },
      { id: 42, n: "first" },
      { id: 43, n: "third" },
    ]);
    assert.equal((await service.create("numbers", {})).id, "44");
  });

  test("timestamps are kept, and set where they are missing", async () => {
    const createdAt = "2001-02-03T04:05:06.000Z";
    reportOf(await send("stamped", lines({ id: "old", createdAt, updatedAt: createdAt }, { id: "new" })));
    const [fresh, old] = await list("stamped");
    assert.deepEqual(old, { id: "old", createdAt, updatedAt: createdAt });
    assert.ok(machineTime() - Date.parse(String(fresh?.createdAt)) < 600_000);
  });

  test("an empty NDJSON or CSV body has no resources", async () => {
    for (const type of [ndjson, "text/csv"]) {
      const name = newName();
      assert.equal(reportOf(await send(name, "", { type })).resources, 0);
      assert.equal(reportOf(await send(name, "\n", { type })).imported, 0);
    }
    assert.equal(reportOf(await send(newName(), "[]", { type: "application/json" })).imported, 0);
  });

  test("it is one change of many in the history and in the feed, and a position from before continues", async () => {
    const name = newName();
    await service.create(name, { n: 0 });
    const before = await service.send({ path: `/api/v1/${name}/_events` });
    const next = sinceOf(linkOf(before, "next"));
    const waiting = service.send({ path: `/api/v1/${name}/_events?since=${next}&wait=60` });
    reportOf(await send(name, lines({ id: "a" }, { id: "b" })));
    const events = eventsOf(await waiting);
    assert.deepEqual(
      events.map(({ type, subject, group }) => [type, subject, group]),
      ["a", "b"].map((id) => [`${name}.created`, id, events[0]?.group]),
    );
    assert.ok(events[0]?.group !== undefined);
    const changes = await service.send({ path: `/api/v1/${name}/a/_changes` });
    assert.equal(
      (changes.json as { changes: unknown[] }).changes?.length ?? (changes.json as unknown[]).length,
      1,
    );
  });
});

describe("what is refused", () => {
  const nothingAt = async (name: string) => assert.deepEqual(await list(name), []);

  test("an invalid resource refuses all, with the place and the reason of each", async () => {
    const body = lines({ id: "bad-1", title: "ok" }, { id: "bad-2", title: "", yeer: 1 }, { id: "_bulk" });
    const report = refusalOf(await send("topics", `${body}\n{"title":\n`));
    assert.equal(report.imported, 0);
    assert.equal(report.invalid, 3);
    assert.equal(report.resources, 4);
    assert.deepEqual(
      report.errors.map(({ line, pointer, code, value }) => [line, pointer, code, value]),
      [
        [2, "#/yeer", "unknownAttribute", "1"],
        [2, "#/title", "minLength", '""'],
        [3, "#/id", "reservedId", '"_bulk"'],
        [3, "#/title", "required", undefined],
        [5, undefined, "item", undefined],
      ],
    );
    assert.deepEqual(await list("topics", "?id=bad-1"), []);
  });

  test("ids and unique values that are taken, and references that lead nowhere", async () => {
    reportOf(await send("topics", lines({ id: "t1", title: "T", slug: "t1" })));
    const bad = lines(
      { id: "t1", title: "again" },
      { id: "t2", title: "T", slug: "t1" },
      { id: "t3", title: "T", slug: "t3" },
      { id: "t4", title: "T", slug: "t3" },
    );
    const report = refusalOf(await send("topics", bad));
    assert.deepEqual(
      report.errors.map(({ line, pointer, code, detail, value }) => [line, pointer, code, detail, value]),
      [
        [1, "#/id", "unique", 'is "t1", which already exists', '"t1"'],
        [2, "#/slug", "unique", "repeats the value of another resource", '"t1"'],
        [4, "#/slug", "unique", "repeats the value of another resource", '"t3"'],
      ],
    );
    const lost = await send("topics", lines({ id: "t5", title: "T", parentId: "nowhere" }));
    check(lost, { status: 400, problem: "REFERENCE_NOT_FOUND" });
    assert.match(lost.text, /topics\/t5 \(parentId: topics\/nowhere\)/);
    assert.deepEqual(await list("topics", "?id:in=t2,t3,t4,t5"), []);
  });

  test("the report has at most 50 errors, and the numbers of all", async () => {
    const name = newName();
    const report = refusalOf(await send(name, `{"a":1}\n${"{\n".repeat(500)}`));
    assert.equal(report.errors.length, 50);
    assert.equal(report.invalid, 500);
    assert.equal(report.resources, 501);
    await nothingAt(name);
  });

  test("a body that breaks off is read to the place of the error", async () => {
    const name = newName();
    const body = '[{"id":"a"},\n{"id":"b"} {"id":"c"}, {"id":"d"}]';
    const report = refusalOf(await send(name, body, { type: "application/json" }));
    assert.equal(report.complete, false);
    assert.deepEqual(
      report.errors.map(({ line, element }) => [line, element]),
      [[2, 3]],
    );
    await nothingAt(name);
  });

  for (const [what, type, body, says] of [
    [
      "an object with a list as JSON",
      "application/json",
      '{"rows":[{"id":"a"}]}',
      /in "rows"\. To import that list, add \?at=rows to the path\./,
    ],
    ["NDJSON as JSON", "application/json", '{"id":"a"}\n{"id":"b"}\n', /not a JSON array: it begins with/],
    ["an array as NDJSON", ndjson, '[{"id":"a"}]', /not one JSON object per line: it begins with/],
    ["text as NDJSON", ndjson, "id,title\n", /not one JSON object per line/],
    ["white space as JSON", "application/json", " \n", /not a JSON array: it contains only white space/],
    ["UTF-16", ndjson, Buffer.from("{}", "utf16le"), /is UTF-16/],
    ["a header without the delimiter", "text/csv", "id;title\na;A\n", /add \?delimiter=%3B to the path/],
    [
      "a header with an unknown attribute",
      "text/csv",
      "id,titel\na,A\n",
      /"titel", which is not an attribute of topics/,
    ],
  ] as const)
    test(`${what} is refused as a whole`, async () => {
      const answer = await send("topics", body, { type });
      check(answer, { status: 400, problem: "INVALID_IMPORT" });
      assert.match((answer.json as { detail: string }).detail, says);
    });

  test("skipInvalid imports the others", async () => {
    const name = newName();
    const report = reportOf(
      await send(name, '{"id":"a"}\nnull\n{"id":"b"}\n', { query: "?skipInvalid=true" }),
    );
    assert.deepEqual([report.imported, report.invalid, report.resources], [2, 1, 3]);
    assert.deepEqual(await list(name), [{ id: "a" }, { id: "b" }]);
  });

  test("what skipInvalid cannot read to its end is refused all the same", async () => {
    const name = newName();
    const body = '[{"id":"a"}';
    refusalOf(await send(name, body, { type: "application/json", query: "?skipInvalid=true" }));
    await nothingAt(name);
  });
});

describe("a dry run", () => {
  test("writes nothing, creates no collection, and reports what an import would do", async () => {
    const name = newName();
    const body = '{"id":"a"}\n{"id":"a"}\nnull\n{"n":1}\n';
    const report = reportOf(await send(name, body, { query: "?dryRun=true&skipInvalid=true" }));
    assert.equal(report.dryRun, true);
    assert.deepEqual([report.imported, report.invalid, report.resources], [2, 2, 4]);
    assert.deepEqual(
      report.errors.map(({ line }) => line),
      [2, 3],
    );
    const names = (await service.send({ path: "/api/v1" })).json as { collections: { name: string }[] };
    assert.ok(!names.collections.some((each) => each.name === name));
    const other = reportOf(await send(name, body, { query: "?dryRun=true" }));
    assert.deepEqual([other.imported, other.invalid], [0, 2]);
    assert.deepEqual(other.errors, report.errors);
  });

  test("finds references that lead nowhere", async () => {
    const lost = lines({ id: "d5", title: "T", parentId: "nowhere" });
    check(await send("topics", lost, { query: "?dryRun=true" }), {
      status: 400,
      problem: "REFERENCE_NOT_FOUND",
    });
  });

  test("gives integer ids back", async () => {
    reportOf(await send("numbers", lines({}, {}, { id: 900 }), { query: "?dryRun=true" }));
    const { id } = await service.create("numbers", {});
    assert.ok(Number(id) < 900);
  });
});

describe("the request", () => {
  test("its method, type, size, parameters and headers are checked before the body is read", async () => {
    const path = "/api/v1/topics/_import";
    const wrongMethod = await service.send({ path });
    check(wrongMethod, { status: 405, problem: "METHOD_NOT_ALLOWED", headers: { Allow: "POST, OPTIONS" } });
    const options = await service.send({ method: "OPTIONS", path });
    assert.equal(options.headers.allow, "POST, OPTIONS");
    assert.equal(options.headers["accept-post"], "application/json, application/x-ndjson, text/csv");
    const wrongType = await send("topics", "a", { type: "application/xml" });
    check(wrongType, { status: 415, problem: "UNSUPPORTED_MEDIA_TYPE" });
    assert.equal(wrongType.headers.accept, "application/json, application/x-ndjson, text/csv");
    check(await send("topics", "{}", { type: `${ndjson}; charset=latin1` }), {
      status: 415,
      problem: "UNSUPPORTED_MEDIA_TYPE",
    });
    const noHeader = await send("topics", "a,A", { type: "text/csv; header=absent" });
    check(noHeader, { status: 415, problem: "UNSUPPORTED_MEDIA_TYPE" });
    assert.match(noHeader.text, /The first row of CSV must name the attributes/);
    check(await send("topics", "{}", { headers: { "Content-Encoding": "gzip" } }), {
      status: 415,
      problem: "UNSUPPORTED_CONTENT_CODING",
    });
    check(await send("topics", "{}", { headers: { Accept: "text/html" } }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    check(await service.send({ method: "POST", path }), { status: 400, problem: "BODY_REQUIRED" });
    check(await send("topics", "", { type: "application/json" }), { status: 400, problem: "BODY_REQUIRED" });
    for (const name of ["Idempotency-Key", "If-Match", "If-None-Match", "If-Unmodified-Since"]) {
      const answer = await send("topics", "{}", { headers: { [name]: '"1"' } });
      check(answer, { status: 400, problem: "INVALID_PARAMETER" });
      assert.match(answer.text, new RegExp(`${name} is not supported by imports`));
    }
  });

  for (const [query, says] of [
    ["?dryRun=yes", /\\"dryRun\\" must be true or false/],
    ["?dryrun=true", /\\"dryrun\\" is not understood. Did you mean \\"dryRun\\"/],
    ["?dryRun=true&dryRun=true", /must occur only once/],
    ["?delimiter=%3B", /applies only to text\/csv/],
  ] as const)
    test(`${query} is refused`, async () => {
      const answer = await send("topics", "{}", { query });
      check(answer, { status: 400, problem: "INVALID_PARAMETER" });
      assert.match(answer.text, says);
    });

  test("a batch has no imports", async () => {
    const operations = [{ method: "POST", path: "/topics/_import", body: {} }];
    const answer = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    assert.deepEqual([answer.status, (answer.json as { code: string }).code], [400, "OPERATION_NOT_FOUND"]);
  });

  test("webhooks cannot be imported", async () => {
    const answer = await send("_webhooks", "{}");
    assert.equal(answer.status, 405);
    assert.equal(problems.INVALID_IMPORT.status, 400);
  });
});
