/** Runs the commands of the command line reference and of the guide for json-server as printed. Only the addresses of services and databases differ. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { newSecret } from "../../src/secrets.ts";
import { run, serve, stop } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { node } from "../node.ts";
import { databaseFor } from "../postgres/databases.ts";
import { machineTime, nextMillisecond } from "../until.ts";
import { nodesOf, readPage } from "./markdown.ts";

const person = "0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6";

const text = { type: "string", maxLength: 99 };

/** The unique keys that commands name with `--on`. Other collections are open. */
const config = JSON.stringify({
  openCollections: true,
  collections: {
    users: { schema: { properties: { email: text } }, unique: ["email"] },
    pages: { schema: { properties: { teamId: text, slug: text } }, unique: [["teamId", "slug"]] },
  },
});

/** The files that the commands read. */
const files = {
  "holdfast.config.json": config,
  "users.csv": "email\nada@x.org\n",
  "pages.ndjson": '{"teamId":"a","slug":"b"}\n',
  "topics.ndjson": '{"id":"a","title":"A"}\n',
  "topics.json.gz": gzipSync('[{"id":"b","title":"B"}]'),
  "topics.csv": "id;title\nc;C\n",
  "places.geojson": '{"type":"FeatureCollection","features":[{"type":"Feature"}]}',
  "response.json": '{"data":{"items":[{"n":1}]}}',
  "products.ndjson": '{"id":"shop:1"}\n',
  "customers.ndjson": '{"id":"ada@x.org"}\n',
  "members.csv": "id,age,since\nada,36,2026-01-02 03:04:05\n",
  "db.json": '{"posts":[{"id":"1"}]}',
  "authors.csv": "id,name\n1,Ada\n",
  "books.csv": "id,title,authorId\n1,Notes,1\n",
  "people.json": `[{"id":"${person}"}]`,
};

/** The shell commands of the page that end by themselves. */
const commands = nodesOf(readPage("docs/reference/command-line.md"), "code")
  .flatMap(({ value }) => value.split("\n"))
  .map((line) => line.replace(/^\$ /, ""))
  .filter((line) => /^(?:npx|zcat) /.test(line))
  .filter((line) => !/holdfast (?:serve|<command>)| --every /.test(line));

test("every command of the command line reference does what it is for", async (t) => {
  assert.ok(commands.length > 15, `${commands.length} commands`);
  const cwd = makeFolder(files);
  const others = makeFolder({ "holdfast.config.json": config });
  const service = await serve(t, [], { cwd: others });
  const url = await databaseFor(t);
  await run(t, ["import", "people", "people.json"], { cwd });
  const env = { ...(await environment(cwd)), HOLDFAST_SECRET: newSecret() };
  const inOrder = commands.toSorted(
    (a, b) => Number(/ --from postgres:/.test(a)) - Number(/ --from postgres:/.test(b)),
  );
  for (const printed of inOrder) {
    const line = printed
      .replaceAll("http://localhost:3000", service.origin)
      .replaceAll(/postgres:\/\/\S+/g, url)
      .replace(/--to 2026-\S+/, `--to ${new Date(machineTime()).toISOString()}`) // after the first change
      .replace(/^(npx holdfast init (\S+).*)/, "$1 --output from-$2.ts") // a configuration exists
      .replace(/^(npx holdfast seed .*)/, "$1 --store sqlite:seeded.db");
    await promisify(execFile)("bash", ["-o", "pipefail", "-c", line], { cwd, env }).catch((error: Error) =>
      assert.fail(`${printed}\n${error.message}`),
    );
  }
  await stop(service);
});

test("the commands of the guide for json-server import a file and list what was in it", async (t) => {
  const [toInit = "", toImport = "", toServe, toList = ""] = nodesOf(
    readPage("docs/how-to/come-from-json-server.md"),
    "code",
  )
    .filter(({ lang }) => lang === "sh")
    .flatMap(({ value }) => value.split("\n"));
  assert.equal(toServe, "npx holdfast serve --prefix /");
  const cwd = makeFolder({ "db.json": '{"posts":[{"id":1,"views":1},{"id":2,"views":2}]}' });
  const options = { cwd, env: await environment(cwd) };
  await mkdir(join(cwd, "node_modules"));
  await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
  const { stdout: printed } = await promisify(execFile)("bash", ["-c", toInit], options);
  assert.ok(printed.includes(`\n  ${toImport}\n`), printed);
  await promisify(execFile)("bash", ["-c", toImport], options);
  const service = await serve(t, ["--prefix", "/"], { cwd });
  const line = toList.replace("http://localhost:3000", service.origin);
  const { stdout } = await promisify(execFile)("bash", ["-c", line], options);
  assert.deepEqual(JSON.parse(stdout), [
    { id: 2, views: 2 },
    { id: 1, views: 1 },
  ]);
});

test("the commands of the guide to go back in time undo what was changed", async (t) => {
  const cwd = makeFolder({ topics: '{"id":"winter"}\n' });
  const options = { cwd, env: await environment(cwd) };
  const service = await serve(t, [], { cwd });
  const run = async (line: string) => {
    const words = line.replaceAll("http://localhost:3000", service.origin).replaceAll(shown, then);
    return promisify(execFile)("bash", ["-o", "pipefail", "-c", words], options);
  };
  const shown = "2026-01-31T08:30:00.000Z";
  let then = "";
  await run("npx holdfast import topics topics --to http://localhost:3000");
  const now = machineTime();
  then = new Date(now).toISOString();
  await nextMillisecond();
  await run("curl -sf -X DELETE http://localhost:3000/api/v1/topics/winter");
  const lines = nodesOf(readPage("docs/how-to/go-back-in-time.md"), "code").flatMap(({ value }) =>
    value.split("\n"),
  );
  assert.equal(lines.length, 4);
  const printed: string[] = [];
  for (const line of lines) {
    const { stdout, stderr } = await run(line.replace(/^curl /, "curl -sf "));
    printed.push(stdout + stderr);
  }
  const [changes = "", list, dry = "", rewound = ""] = printed;
  assert.match(changes, /"kind":"deleted"/);
  assert.equal(list, '[{"id":"winter"}]');
  assert.match(dry, /^topics: 1 created again, 0 replaced, 0 deleted\nwould rewind 1 resource to /);
  assert.match(
    rewound,
    /\nrewound 1 resource to \S+\. To undo this: npx holdfast rewind --to \S+ --max 1 --collection topics --url http:\S+\n$/,
  );
});

/** An environment in which `npx holdfast` is the program, wherever it is called. */
async function environment(cwd: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(cwd, "bin");
  await mkdir(bin);
  const words = [...node, resolve("bin/holdfast.js")];
  const program = `#!/bin/sh\nshift\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`;
  await writeFile(join(bin, "npx"), program);
  await chmod(join(bin, "npx"), 0o755);
  return { ...process.env, PATH: `${bin}:${process.env.PATH}` };
}
