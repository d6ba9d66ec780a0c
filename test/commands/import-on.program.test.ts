/** `holdfast import --on`: changes the resources that have the same unique values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run, serve } from "./cli.ts";

const text = { type: "string", maxLength: 100 } as const;
const users = {
  schema: {
    type: "object",
    required: ["email", "name"],
    properties: { email: text, name: { type: "string", minLength: 1 }, team: text, slug: text },
  },
  unique: ["email", ["team", "slug"]],
};

const files = {
  "first.csv": "id,email,name,team,slug\na,ada@x.org,Ada,t,s\nb,bo@x.org,Bo,,\n",
  "next.csv": "email,name\nada@x.org,Ada L\nbo@x.org,Bo\ncy@x.org,Cy\n",
  "pairs.ndjson": '{"team":"t","slug":"s","name":"Ada M"}\n',
  "wrong.ndjson": '{"email":"ada@x.org","name":""}\n{"name":"A"}\n{"email":"bo@x.org","name":"Bo"}\n',
  "db.json": '{"users":[]}',
  ...configuration({ users, plain: {} }),
};

for (const place of ["the store", "a running service"])
  test(`an import into ${place} makes, changes and leaves resources`, async (t) => {
    const cwd = makeFolder(files);
    const to = place === "the store" ? [] : ["--to", (await serve(t, [], { cwd })).base];
    const send = (...args: string[]) => run(t, ["import", "users", ...args, ...to], { cwd });
    const size = to.length === 0 ? "; the store takes \\S+ kB on disk" : "";
    const shows = async (args: string[], says: string) => {
      const { exitCode, stdout, stderr } = await send(...args);
      assert.equal(exitCode, 0, stderr);
      assert.match(stdout, new RegExp(`^(?:.*\\n)*${says}, in \\d+\\.\\d s${size}\\n$`));
    };
    assert.equal((await send("first.csv")).exitCode, 0);
    await shows(["next.csv", "--on", "email"], "3 resources in users: 1 made, 1 changed, 1 the same");
    await shows(["next.csv", "--on", "email"], "3 resources in users: 0 made, 0 changed, 3 the same");
    await shows(["pairs.ndjson", "--on", "slug,team"], "1 resource in users: 0 made, 1 changed, 0 the same");
    if (to.length > 0)
      await shows(
        ["first.csv", "--on", "email", "--dry-run"],
        "2 resources in users: 0 would be made, 1 changed, 1 the same",
      );
    const refused = await send("wrong.ndjson", "--on", "email");
    assert.equal(refused.exitCode, 1);
    assert.match(
      refused.stderr,
      /^ {2}line 1: "name" .*\n {2}line 2: "email" is needed, because the import finds resources by email\nholdfast: nothing was imported: 2 of 3 resources are invalid\./,
    );
    await shows(
      ["wrong.ndjson", "--on", "email", "--skip-invalid"],
      "1 resource in users: 0 made, 0 changed, 1 the same",
    );
    const { stdout } = await run(t, ["export", "users"], { cwd });
    const [made, ...changed] = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { id: string });
    assert.deepEqual({ ...made, id: "new" }, { id: "new", email: "cy@x.org", name: "Cy" });
    assert.deepEqual(changed, [
      { id: "a", email: "ada@x.org", name: "Ada M", team: "t", slug: "s" },
      { id: "b", email: "bo@x.org", name: "Bo" },
    ]);
  });

test("a name that is no unique key, and a database, are refused", async (t) => {
  const cwd = makeFolder(files);
  for (const [args, says] of [
    [
      ["users", "next.csv", "--on", "name"],
      /--on must name one of these unique keys, .*: "email"; "team" and "slug"\./,
    ],
    [
      ["plain", "next.csv", "--on", "name"],
      /--on cannot be used: the collection has no unique attributes without/,
    ],
    [
      ["db.json", "--on", "email"],
      /--on is for one collection: npx holdfast import <collection> db\.json --on email/,
    ],
  ] as const) {
    const { exitCode, stderr } = await run(t, ["import", ...args], { cwd });
    assert.equal(exitCode, 1);
    assert.match(stderr, says);
  }
});
