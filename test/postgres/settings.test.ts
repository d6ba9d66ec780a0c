/** Databases whose owner has changed what statements mean by default. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase, query } from "./databases.ts";
import { serveOn } from "./served.ts";

const unusual = [
  "standard_conforming_strings to off",
  "escape_string_warning to off",
  "default_transaction_isolation to 'serializable'",
  "extra_float_digits to -15",
  `"DateStyle" to 'SQL, DMY'`,
  "transform_null_equals to on",
  "quote_all_identifiers to on",
  "statement_timeout to 1000",
];

async function openUnusual(t: TestContext): Promise<string> {
  const { url, release } = await openDatabase();
  const name = new URL(url).pathname.slice(1);
  for (const setting of unusual) await query(url, `alter database ${name} set ${setting}`);
  t.after(async () => {
    await query(url, `alter database ${name} reset all`);
    release();
  });
  return url;
}

test("no name of an attribute is anything but a name, whatever a backslash is to the database", async (t) => {
  const { ask } = await serveOn(t, await openUnusual(t));
  const names = ["\\", "a\\", "\\'", "\\' or 1=1 --", "b\\\\' is null) or (true", "'", "''"];
  for (const [n, name] of names.entries()) {
    assert.equal((await ask("POST", "things", { [name]: "it", n })).status, 201);
    for (const how of [`${encodeURIComponent(name)}:eq=it`, `${encodeURIComponent(name)}:startsWith=IT`]) {
      const { status, content } = await ask("GET", `things?${how}&sort=-${encodeURIComponent(name)}`);
      assert.equal(status, 200, JSON.stringify(content));
      assert.deepEqual(
        (content as { n: number }[]).map((each) => each.n),
        [n],
        name,
      );
    }
  }
});
