/** A folder in which `holdfast keys` runs. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, jsonLines, run } from "./cli.ts";

const taken = configuration({ articles: {} }, { auth: { keys: true } });

export interface Listed {
  prefix: string;
  name: string;
  subject: string;
  roles: string[];
  scopes: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

/** A folder with a configuration that takes keys, and the command in it. */
export async function place(t: TestContext, files = taken) {
  const cwd = makeFolder(files);
  const keys = (...args: string[]) => run(t, ["keys", ...args], { cwd });
  const create = async (...args: string[]) => {
    const outcome = await keys("create", ...args);
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    return outcome.stdout.trim();
  };
  const list = async () => jsonLines((await keys("list", "--json")).stdout) as Listed[];
  return { cwd, keys, create, list };
}
