import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, jsonLines, type Outcome, run, serve, stop } from "./cli.ts";

/** The example of json-server's own README, as of version 0.17 and of version 1. */
const database = `{
  "$schema": "./node_modules/json-server/schema.json",
  "posts": [
    { "id": "1", "title": "a title", "views": 100 },
    { "id": "2", "title": "another title", "views": 200 }
  ],
  "comments": [
    { "id": 1, "text": "a comment about post 1", "postId": "1" },
    { "text": "no id", "postId": "1" },
    { "id": 3, "text": "another", "postId": "2" }
  ],
  "tags": []
}
`;
const profile = { name: "typicode" };

/** One clear line, and exit code 1. */
function assertRefused(outcome: Outcome, says: RegExp): void {
  assert.equal(outcome.exitCode, 1, outcome.stderr);
  assert.equal(outcome.stdout, "");
  assert.match(outcome.stderr, says);
  assert.match(outcome.stderr, /^(?: {2}[^\n]+\n)*holdfast: [^\n]+\n$/);
}

test("every list of a json-server database becomes a collection, and the service answers with it", async (t) => {
  const cwd = makeFolder({ "db.json": database });
  const { exitCode, stdout, stderr } = await run(t, ["import", "db.json"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(
    stdout,
    new RegExp(
      [
        "^comments: 1 resource had no id and got a generated one: element 2 on line 9",
        'comments: 2 resources had a number as id, which is now a string: element 1 on line 8 \\(1 is now "1"\\), element 3 on line 10 \\(3 is now "3"\\)',
        "2 resources imported into posts",
        "3 resources imported into comments",
        "0 resources imported into tags",
        "5 resources in 3 collections in \\d+\\.\\d s; the store takes \\d+\\.\\d kB on disk\n$",
      ].join("\n"),
    ),
  );
  assert.equal(stderr, "");
  const service = await serve(t, [], { cwd });
  const read = async (path: string) => (await fetch(`${service.base}/${path}`)).json();
  assert.deepEqual(await read("posts/1"), { id: "1", title: "a title", views: 100 });
  assert.deepEqual(await read("comments/3"), { id: "3", text: "another", postId: "2" });
  assert.deepEqual(await read("tags"), []);
  await stop(service);
});

test("a single object is left out with a message, and everything else is imported", async (t) => {
  const text = JSON.stringify({ posts: [{ id: "1" }], profile, settings: { a: {} } }, null, 2);
  for (const flags of [[], ["--skip-invalid"]]) {
    const cwd = makeFolder({ "db.json": text });
    const { exitCode, stdout, stderr } = await run(t, ["import", "db.json", ...flags], { cwd });
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^1 resource imported into posts\n1 resource in 1 collection in /);
    assert.deepEqual(stderr.split("\n"), [
      `holdfast: skipped "profile" on line 7: a single object is not a collection. To import it, declare the collection "profile", or put it in a list: "profile": [{ "id": "1", … }] becomes profile/1`,
      `holdfast: skipped "settings" on line 10: a single object is not a collection. To import it, declare the collection "settings", or put it in a list: "settings": [{ "id": "1", … }] becomes settings/1`,
      "",
    ]);
    assert.equal((await run(t, ["export", "posts"], { cwd })).stdout, '{"id":"1"}\n');
    assert.match(
      (await run(t, ["export", "profile"], { cwd })).stderr,
      /The collection "profile" does not exist/,
    );
  }
});

test("a file without any list is not imported, and the message says what is missing", async (t) => {
  const cwd = makeFolder({ "db.json": JSON.stringify({ profile }) });
  const outcome = await run(t, ["import", "db.json"], { cwd });
  assertRefused(outcome, /nothing was imported: db\.json contains no list of resources/);
  assert.match(outcome.stderr, /^ {2}line 1: "profile" is a single object, not a list\. /m);
});

test("a member that is neither a list nor an object is refused, and nothing is imported unless --skip-invalid leaves it out", async (t) => {
  const text = JSON.stringify({ posts: [{ id: "1" }], profile, version: 1 }, null, 2);
  const cwd = makeFolder({ "db.json": text });
  const outcome = await run(t, ["import", "db.json"], { cwd });
  assertRefused(
    outcome,
    /nothing was imported\. Invalid: 1 member\. Correct the input, or import the rest with --skip-invalid\./,
  );
  assert.match(outcome.stderr, /^ {2}line 10: "version": is not a list of resources/m);
  assert.match((await run(t, ["export", "posts"], { cwd })).stderr, /None exist/);
  const skipping = await run(t, ["import", "db.json", "--skip-invalid"], { cwd });
  assert.equal(skipping.exitCode, 0);
  assert.match(skipping.stderr, /^holdfast: skipped "profile" on line 7/m);
  assert.match(skipping.stderr, /^holdfast: skipped 1 member:\n {2}line 10: "version"/m);
  assert.equal((await run(t, ["export", "posts"], { cwd })).stdout, '{"id":"1"}\n');
});

test("one bad resource in the last list, and nothing of any list is imported, not even a collection", async (t) => {
  const text = '{"posts":[{"id":"a"}],\n"comments":[\n{"id":"b"},\n{"id":"b"},\n7]}';
  const cwd = makeFolder({ "db.json": text });
  const outcome = await run(t, ["import", "db.json"], { cwd });
  assertRefused(outcome, /nothing was imported\. Invalid: 2 of 3 resources in comments\. Correct/);
  assert.match(outcome.stderr, /^ {2}comments, element 2 on line 4: "id" is "b", which already exists$/m);
  assert.match(outcome.stderr, /^ {2}comments, element 3 on line 5: is not a JSON object$/m);
  for (const name of ["posts", "comments"])
    assert.match((await run(t, ["export", name], { cwd })).stderr, /None exist/);
  const skipping = await run(t, ["import", "db.json", "--skip-invalid"], { cwd });
  assert.match(skipping.stdout, /^2 resources in 2 collections/m);
  assert.equal((await run(t, ["export", "comments"], { cwd })).stdout, '{"id":"b"}\n');
});

test("an id that the store has is found before anything is written, and --skip-invalid brings in the rest", async (t) => {
  const cwd = makeFolder({ first: '{"id":"2"}', "db.json": database });
  await run(t, ["import", "comments", "first"], { cwd });
  await run(t, ["import", "comments", "-"], { cwd, input: '{"id":"3"}' });
  const outcome = await run(t, ["import", "db.json"], { cwd });
  assertRefused(outcome, /Invalid: 1 of 3 resources in comments\. /);
  assert.match((await run(t, ["export", "posts"], { cwd })).stderr, /The collection "posts" does not exist/);
  assert.equal((await run(t, ["import", "db.json", "--skip-invalid"], { cwd })).exitCode, 0);
  assert.equal(jsonLines((await run(t, ["export", "posts"], { cwd })).stdout).length, 2);
  assert.equal(jsonLines((await run(t, ["export", "comments"], { cwd })).stdout).length, 4);
});

test("what the schema of a declared collection refuses, and what is not declared, is named", async (t) => {
  const cwd = makeFolder({
    "db.json": database,
    ...configuration({
      posts: { schema: { properties: { title: { type: "string" } } } },
      comment: {},
      tags: {},
    }),
  });
  const outcome = await run(t, ["import", "db.json"], { cwd });
  assertRefused(outcome, /nothing was imported\. Invalid: 1 member, 2 of 2 resources in posts\. /);
  assert.match(
    outcome.stderr,
    /line 7: "comments": No collection "comments" is declared\. Did you mean "comment"\?/,
  );
  assert.match(outcome.stderr, /posts, element 1 on line 4: "views" is not an attribute/);
});

const refusals: readonly { name: string; text: string; says: RegExp }[] = [
  {
    name: "a list",
    text: '[{"id":1}]',
    says: /To import a list of resources, name its collection: npx holdfast import <collection> db\.json/,
  },
  { name: "CSV", text: "id,name\n", says: /is not a json-server database/ },
  { name: "nothing", text: " ", says: /is not a json-server database/ },
  {
    name: "lines of JSON",
    text: '{"posts":[]}\n{"a":1}',
    says: /db\.json is not valid JSON: there is an error on line 2/,
  },
  {
    name: "half a database",
    text: '{"posts":[{"id":1},\n',
    says: /not valid JSON: there is an error on line 2/,
  },
  { name: "a missing comma", text: '{"posts":[]\n"tags":[]}', says: /there is an error on line 2/ },
  { name: "a comma at the end", text: '{"posts":[],\n}', says: /there is an error on line 2/ },
  { name: "a name twice", text: '{"posts":[],"posts":[]}', says: /db\.json has the member "posts" twice/ },
  {
    name: "what is no JSON inside of a list",
    text: '{"posts":[{"id" 1}]}',
    says: /posts, element 1 on line 1: .*\n.*1 of 1/,
  },
  {
    name: "words that are none",
    text: '{"posts":[{"id":nope}]}',
    says: /is not valid JSON: there is an error/,
  },
  { name: "brackets that do not match", text: '{"posts":[{"id":1]]}', says: /posts, element 1 .*\n/ },
];

for (const { name, text, says } of refusals) {
  test(`${name} is no database, and refused in one line`, async (t) => {
    const cwd = makeFolder({ "db.json": text });
    assertRefused(await run(t, ["import", "db.json"], { cwd }), says);
    assert.match(
      (await run(t, ["export", "posts"], { cwd })).stderr,
      /None exist|The store \S+ does not exist/,
    );
  });
}

test("options of CSV, and a collection without a file, are told what to write", async (t) => {
  const cwd = makeFolder({ "db.json": database });
  for (const args of [["topics"], ["db.json", "--format", "csv"], ["db.json", "--delimiter", ";"]])
    assertRefused(
      await run(t, ["import", ...args], { cwd }),
      /holdfast import <collection> (?:topics|db\.json)\n/,
    );
});

test("a single object becomes the only resource of the collection that the configuration declares", async (t) => {
  const text = JSON.stringify({ profile, settings: { id: "own", a: 1 } });
  const cwd = makeFolder({ ...configuration({ profile: { id: "integer" }, settings: {} }), "db.json": text });
  const { exitCode, stdout, stderr } = await run(t, ["import", "db.json"], { cwd });
  assert.deepEqual([exitCode, stderr], [0, ""]);
  assert.match(stdout, /^1 resource imported into profile\n1 resource imported into settings$/m);
  assert.equal((await run(t, ["export", "profile"], { cwd })).stdout, '{"id":1,"name":"typicode"}\n');
  assert.equal((await run(t, ["export", "settings"], { cwd })).stdout, '{"id":"own","a":1}\n');
});
