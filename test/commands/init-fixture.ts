/** What the tests of `holdfast init` share. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { makeFolder } from "../folder.ts";
import { type Outcome, run } from "./cli.ts";

export const file = "holdfast.config.ts";

/** A folder in which a configuration can import the package. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = makeFolder(files);
  await mkdir(join(cwd, "node_modules"));
  await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
  return cwd;
}

export const written = (cwd: string) => readFileSync(join(cwd, file), "utf8");

/** The part of the configuration with the collections. */
export const collectionsIn = (cwd: string) => written(cwd).slice(written(cwd).indexOf("  collections: {"));

export function assertRefused(outcome: Outcome, cwd: string, says: RegExp): void {
  assert.equal(outcome.exitCode, 1, outcome.stdout);
  assert.match(outcome.stderr, says);
  assert.equal(outcome.stdout, "");
  assert.ok(!existsSync(join(cwd, file)));
}

export const init = async (t: TestContext, cwd: string, ...args: string[]) => {
  const outcome = await run(t, ["init", ...args], { cwd });
  assert.equal(outcome.exitCode, 0, outcome.stderr);
  return outcome;
};

/** Runs the commands that `init` has printed, except `serve`. */
export async function follow(t: TestContext, cwd: string, { stdout }: Outcome): Promise<void> {
  const commands = [...stdout.matchAll(/^ {2}npx holdfast (import .*)$/gm)].map(([, words = ""]) => words);
  for (const words of commands) {
    const { exitCode, stderr } = await run(t, words.split(" "), { cwd });
    assert.equal(exitCode, 0, `${words}: ${stderr}`);
  }
}

/** A database of json-server with every kind of value. */
export const database = {
  $schema: "./schema.json",
  posts: [
    {
      id: 1,
      title: "a title",
      views: 100,
      publishedOn: "2024-01-02",
      editedAt: "2024-01-02T10:00:00.000Z",
      when: "2024-01-02",
      tags: ["a"],
      categoryId: 1,
    },
    { id: 2, title: null, views: 200.5, author: { name: "Ada", age: 3 }, when: "2024-01-02T10:00:00.000Z" },
    { id: 3, title: "b", categoryId: 9, "odd name": true, tags: [] },
  ],
  categories: [{ id: 1, name: "x", parentId: null }],
  comments: [
    { id: 1, text: "one", postId: 1 },
    { id: 2, text: 5, postId: null },
  ],
  tags: [],
  profile: { name: "typicode", password: "x" },
};
