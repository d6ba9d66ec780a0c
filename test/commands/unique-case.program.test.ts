import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run, serve, stop } from "./cli.ts";

const schema = { properties: { email: { type: "string", maxLength: 100 }, n: { type: "integer" } } };

const without = { users: { schema } };

const withUnique = { users: { schema, unique: [{ attribute: "email", ignoreCase: true }] } };

const users = '{"id":"a","email":"x"}\n{"id":"b"}\n{"id":"c","email":"X"}\n{"id":"d","email":"y"}\n';

async function declare(cwd: string, collections: object): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections)))
    await writeFile(join(cwd, name), text);
}

async function withStore(t: TestContext): Promise<string> {
  const cwd = makeFolder({ "users.ndjson": users, ...configuration(without) });
  const { exitCode, stderr } = await run(t, ["import", "users", "users.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  return cwd;
}

test("values that differ only in case are found once ignoreCase is declared", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, { users: { schema, unique: ["email"] } });
  await stop(await serve(t, [], { cwd }));
  await declare(cwd, withUnique);
  const { exitCode, stderr } = await run(t, ["import", "users", "-"], { cwd, input: '{"id":"e"}\n' });
  assert.equal(exitCode, 1);
  assert.match(stderr, /one resource repeats the value of another .*first "c"/);
});
