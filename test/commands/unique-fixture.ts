/** A folder whose store has users that a unique attribute would refuse. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run } from "./cli.ts";

export const schema = { properties: { email: { type: "string", maxLength: 100 }, n: { type: "integer" } } };

const without = { users: { schema } };

export const withUnique = { users: { schema, unique: [{ attribute: "email", ignoreCase: true }] } };

export const users = '{"id":"a","email":"x"}\n{"id":"b"}\n{"id":"c","email":"X"}\n{"id":"d","email":"y"}\n';

export async function declare(cwd: string, collections: object): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections)))
    await writeFile(join(cwd, name), text);
}

export async function withStore(t: TestContext): Promise<string> {
  const cwd = makeFolder({ "users.ndjson": users, ...configuration(without) });
  const { exitCode, stderr } = await run(t, ["import", "users", "users.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  return cwd;
}
