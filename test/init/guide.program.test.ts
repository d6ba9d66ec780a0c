import assert from "node:assert/strict";
import { test } from "node:test";
import { folderWith, init, written } from "../commands/init-fixture.ts";
import { blocksOf, readPage } from "../pages/markdown.ts";

test("the guide to data shows what the command prints and writes", async (t) => {
  const blocks = blocksOf(readPage("docs/how-to/start-from-data.md"));
  const textIn = (language: string) => blocks.find((block) => block.language === language)?.text;
  const [command = ""] = [textIn("sh")];
  assert.equal(command.trim(), "npx holdfast init authors.csv books.csv");
  const cwd = await folderWith({
    "authors.csv": "id,name,born\n1,Ada,1815-12-10\n2,Bob,1900-01-01\n",
    "books.csv": "id,title,authorId\n1,Notes,1\n2,Sequel,1\n",
  });
  const { stdout } = await init(t, cwd, "authors.csv", "books.csv");
  assert.equal(stdout.trim(), textIn("")?.trim());
  const text = written(cwd);
  assert.equal(text.slice(text.indexOf("import {")).trim(), textIn("ts")?.trim());
});
