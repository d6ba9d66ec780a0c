/** The table of the options of an import, and all that must have each of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ImportTextOptions } from "holdfast-client";
import { flagOf } from "../../src/commands/import/import-flags.ts";
import { importOptionNames, importOptions, readImportOptions } from "../../src/import/options.ts";

// The type checker refuses a name that the client does not have.
const names: readonly (keyof ImportTextOptions)[] = importOptionNames;

const root = join(import.meta.dirname, "../..");
const page = (name: string) => readFileSync(join(root, "docs/reference", `${name}.md`), "utf8");

test("the reference describes every option of the command and every parameter", () => {
  const [commands, http] = [page("command-line"), page("import")];
  for (const name of importOptionNames) {
    assert.match(commands, new RegExp(`^\\| \`${flagOf(name)}[ \`]`, "m"), name);
    assert.match(http, new RegExp(`^\\| \`${name}\` \\|`, "m"), name);
  }
});

test("the flag of the command has the name of the parameter", () => {
  for (const name of names) {
    const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    assert.equal(flagOf(name as (typeof importOptionNames)[number]), `--${kebab}`);
  }
});

test("an option of another format is refused, and the others are read", () => {
  const refused: string[] = [];
  const options = readImportOptions(
    { at: "data", delimiter: "tab", skipInvalid: "true", dryRun: "yes" },
    {
      isCsv: true,
      otherFormat: { csv: "is for CSV", json: "is for JSON" },
      refuse: (name, code, detail) => refused.push(`${name} ${code}: ${detail}`),
    },
  );
  assert.deepEqual(options, { skipInvalid: true, delimiter: "\t" });
  assert.deepEqual(refused, ["dryRun boolean: must be true or false", "at at: is for JSON"]);
  assert.equal(importOptions.at.only, "json");
});
