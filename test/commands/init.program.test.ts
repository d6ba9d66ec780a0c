/** `holdfast init`: the configuration that it writes, and what it refuses. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { makeFolder } from "../folder.ts";
import { run } from "./cli.ts";
import { assertRefused, collectionsIn, database, folderWith, init, written } from "./init-fixture.ts";

test("the whole text for a database is this, and these are the next commands", async (t) => {
  const cwd = await folderWith({ "db.json": JSON.stringify(database) });
  const outcome = await init(t, cwd, "db.json");
  assert.equal(
    written(cwd),
    `// Written by "npx holdfast init" from db.json. It declares what the data shows, and you can change
// it:
// - Nothing is required. required: ["title"] in a schema refuses a resource without a title.
// - Other attributes are allowed too. Without additionalProperties: true, they are refused.
// - onDelete: "restrict" refuses to delete a resource that others refer to. "cascade" deletes those
//   too, and "clear" removes the id from them.
import { defineConfig } from "holdfast";

export default defineConfig({
  collections: {
    // 3 resources
    posts: {
      id: "integer",
      schema: {
        type: "object",
        properties: {
          title: { type: ["string", "null"] },
          views: { type: "number" },
          publishedOn: { type: "string", format: "date" },
          editedAt: { type: "string", format: "date-time" },
          when: { format: "date-value" },
          tags: { type: "array", items: { type: "string" } },
          categoryId: { type: "integer" },
          author: {
            type: "object",
            properties: { name: { type: "string" }, age: { type: "integer" } },
            additionalProperties: true,
          },
          "odd name": { type: "boolean" },
        },
        additionalProperties: true,
      },
      search: ["title", "tags", "author.name"],
      // "categoryId" looks like a reference to "categories", but 1 of its 2 values cannot be found
      // there, such as 9 in posts/3.
    },
    // 1 resource
    categories: {
      id: "integer",
      schema: {
        type: "object",
        properties: { name: { type: "string" }, parentId: {} },
        additionalProperties: true,
      },
      search: ["name"],
    },
    // 2 resources
    comments: {
      id: "integer",
      schema: {
        type: "object",
        properties: {
          // values of several types: string, integer
          text: {},
          postId: { type: ["integer", "null"] },
        },
        additionalProperties: true,
      },
      references: {
        postId: { collection: "posts", as: "post", inverse: "comments", onDelete: "restrict" },
      },
    },
    // 0 resources
    tags: { id: "integer" },
    // 1 resource
    // "profile" is a single object in the data, and the only resource of its collection here, with
    // the path profile/1.
    profile: {
      id: "integer",
      schema: {
        type: "object",
        properties: { name: { type: "string" }, password: { type: "string" } },
        additionalProperties: true,
      },
      search: ["name"],
    },
  },
});
`,
  );
  assert.equal(
    outcome.stdout,
    `holdfast.config.ts declares 5 collections:
  posts: 3 resources, ids are integers
    "categoryId" looks like a reference to "categories", but 1 of its 2 values cannot be found there, such as 9 in posts/3.
  categories: 1 resource, ids are integers
  comments: 2 resources, ids are integers
    "postId" refers to "posts"
  tags: 0 resources, ids are integers
  profile: 1 resource, ids are integers
    "profile" is a single object in the data, and the only resource of its collection here, with the path profile/1.
Next:
  npx holdfast import db.json
  npx holdfast serve
`,
  );
});

test("a configuration that exists is never overwritten, whatever its name is", async (t) => {
  const files = { "db.json": '{"posts":[]}' };
  for (const name of [
    "holdfast.config.ts",
    "holdfast.config.js",
    "holdfast.config.mjs",
    "holdfast.config.json",
  ]) {
    const cwd = makeFolder({ ...files, [name]: "mine" });
    const { exitCode, stderr, stdout } = await run(t, ["init", "db.json"], { cwd });
    assert.deepEqual([exitCode, stdout], [1, ""]);
    assert.equal(
      stderr,
      `holdfast: ${name} exists, and init never overwrites a configuration. Write to another file with --output, and take over what you need.\n`,
    );
    assert.equal(readFileSync(join(cwd, name), "utf8"), "mine");
    const other = await run(t, ["init", "db.json", "-o", "other.mjs"], { cwd });
    assert.match(other.stdout, /^other\.mjs declares 1 collection:/);
    assert.match(other.stdout, /npx holdfast serve --config other\.mjs$/m);
    const again = await run(t, ["init", "db.json", "-o", "other.mjs"], { cwd });
    assert.match(again.stderr, /^holdfast: other\.mjs exists, /);
  }
});

test("names that an attribute or another relation has are not taken twice", async (t) => {
  const cwd = await folderWith({
    "db.json": JSON.stringify({
      posts: [{ id: 1, comments: 3 }],
      people: [{ id: 1 }],
      comments: [
        { id: 1, post: "x", postId: 1, personId: 1, person_id: 1, commentId: 1, "post-id": 1, ownerId: 7 },
      ],
    }),
  });
  await init(t, cwd, "db.json");
  const { collections } = await loadConfig({ cwd, env: {}, flags: {} });
  const relations = (name: string) => [...(collections.get(name)?.relations.keys() ?? [])].toSorted();
  assert.deepEqual(relations("comments"), [
    "comment",
    "comments",
    "person",
    "personByPerson_id",
    "postByPostId",
  ]);
  assert.deepEqual(relations("posts"), ["commentsByPostId"]);
  assert.deepEqual(relations("people"), ["comments", "commentsByPerson_id"]);
});

test("a store keeps the kind of its ids, and what an earlier configuration declared is named", async (t) => {
  const schema = { type: "object", properties: { email: { type: "string", maxLength: 99 } } };
  const cwd = makeFolder({
    "old.json": JSON.stringify({
      collections: { users: { id: "integer", schema, unique: ["email"] }, tags: {} },
    }),
  });
  await run(t, ["import", "users", "-", "-c", "old.json", "-s", "sqlite:shop.db"], {
    cwd,
    input: '{"email":"a"}',
  });
  for (const source of ["shop.db", "sqlite:shop.db"]) {
    const output = `${source.replace(":", "-")}.mjs`;
    const { stdout } = await init(t, cwd, source, "-o", output);
    assert.match(
      stdout,
      /An earlier configuration declared a schema, unique attributes here, which the data does not show\./,
    );
    assert.match(stdout, new RegExp(`npx holdfast serve --store shop\\.db --config ${output}$`, "m"));
    assert.match(readFileSync(join(cwd, output), "utf8"), /users: \{\n {6}id: "integer",/);
  }
});

test("a store with other resources gets a note, because the import would not fit it", async (t) => {
  const cwd = makeFolder({ "db.json": '{"posts":[{"id":1}]}' });
  await run(t, ["import", "db.json"], { cwd });
  const { stderr } = await init(t, cwd, "db.json");
  assert.equal(
    stderr,
    "holdfast: holdfast.db already has resources in posts. To start again, stop the service, and move holdfast.db and holdfast.db.lock away. To declare what holdfast.db has, run npx holdfast init holdfast.db instead.\n",
  );
});

test("a source that contains no collections is refused, and nothing is written", async (t) => {
  const cwd = makeFolder({
    "db.json": '{"posts":[]}',
    "numbers.json": '{"a":1}',
    "wrong.json": '{"posts":[',
    "lines.txt": '{\n"id":1}\n{"id":2}\n',
    "text.json": "hello",
    "9lives.csv": "id\n1\n",
    "posts.ndjson": '{"id":1}\n',
    "sub.csv": "a;b\n1;2\n",
    "empty.db": "",
  });
  await mkdir(join(cwd, "folder"));
  await run(t, ["import", "x", "posts.ndjson", "-s", "sqlite:shop.db"], { cwd });
  for (const [args, says] of [
    [["numbers.json"], /numbers\.json contains no collection: a list of objects, or an object with a name\./],
    [
      ["wrong.json"],
      /wrong\.json is not valid JSON: there is an error on line 1\. If it is NDJSON, let its name end with \.ndjson/,
    ],
    [["lines.txt"], /lines\.txt is not valid JSON: there is an error on line 3\./],
    [["text.json"], /neither a JSON array nor one JSON object per line: it begins with "hello"/],
    [["missing.json"], /missing\.json cannot be read: it does not exist/],
    [["folder"], /folder cannot be read: it is a folder/],
    [["missing.db"], /missing\.db cannot be read: it does not exist/],
    [["sqlite:missing.db"], /missing\.db/],
    [["9lives.csv"], /9lives\.csv cannot name a collection: a name is a letter/],
    [["db.json", "posts.ndjson"], /posts\.ndjson: an earlier file already has the collection "posts"\./],
    [["db.json", "shop.db"], /shop\.db is a store: give it alone, without other sources\./],
    [["sub.csv"], /If ";" separates the columns, add --delimiter ";"/],
    [["posts.ndjson", "--delimiter", ";"], /--delimiter is for CSV files/],
    [["db.json", "-o", "x.json"], /--output must end with \.ts, \.js or \.mjs, not "x\.json"\./],
    [
      ["db.json", "-c", "x.ts"],
      /init writes a configuration: name the file with --output instead of --config\./,
    ],
    [["db.json", "-o", "none/x.ts"], /none\/x\.ts cannot be written: its folder does not exist\./],
    [[], /missing required argument 'source'/],
  ] as const)
    assertRefused(await run(t, ["init", ...args], { cwd }), cwd, says);
});

test("files become collections with their names, in an order in which they can be imported", async (t) => {
  const cwd = await folderWith({
    "books.ndjson":
      '{"id":"b1","title":"x","author_id":1}\n{"id":"b2","author_id":"2","at":"2024-01-01T00:00:00.000Z"}\n',
    "reviews.json": '[{"_id":"r1","bookIds":["b1","b2"],"books":"taken"},{"_id":"r2","bookIds":[]}]',
    "authors.csv":
      'id,name,born,active,score,zip,count,address.city,list\n1,Ada,1815-12-10,true,1.5,00123,1,Oslo,"[""a"",1]"\n2,Bob,,false,2,9999,x,,\n',
  });
  const outcome = await init(t, cwd, "books.ndjson", "reviews.json", "authors.csv");
  assert.match(
    outcome.stdout,
    /^Next:\n {2}npx holdfast import authors authors\.csv\n {2}npx holdfast import books books\.ndjson\n {2}npx holdfast import reviews reviews\.json --id _id\n {2}npx holdfast serve\n$/m,
  );
  const text = collectionsIn(cwd);
  for (const part of [
    "author_id: {},",
    'author_id: { collection: "authors", as: "author", inverse: "books", onDelete: "restrict" },',
    'bookIds: { type: "array", items: { type: "string" } },',
    'as: "booksByBookIds",',
    'born: { type: "string", format: "date" },',
    'active: { type: "boolean" },',
    'score: { type: "number" },',
    'zip: { type: "string" },',
    'count: { type: "string" },',
    'properties: { city: { type: "string" } },',
    'list: { type: "array" },',
    'search: ["name", "zip", "count", "address.city"],',
  ])
    assert.ok(text.includes(part), `${part}\n${text}`);
  assert.doesNotMatch(text, /^ *_id:/m);
});
