/** What `withConsumers` makes of collections. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { typedCode } from "../../../src/index.ts";

const run = () => {};
const first = { run };

test("withConsumers adds consumers to collections, and keeps those that they have", () => {
  const notes = { id: "integer", after: { first } } as const;
  const { collections, withConsumers } = typedCode({ notes, tags: { id: "integer" } });
  assert.deepEqual(withConsumers({ notes: { second: { run } } }), {
    notes: { id: "integer", after: { first, second: { run } } },
    tags: { id: "integer" },
  });
  assert.deepEqual(collections, { notes, tags: { id: "integer" } });
  assert.deepEqual(withConsumers({}), collections);
});

test("withConsumers replaces no consumer", () => {
  const { withConsumers } = typedCode({ notes: { after: { first } } });
  const message = /the collection "notes" has a consumer "first" already, in its member after/;
  assert.throws(() => withConsumers({ notes: { first: { run } } }), message);
});

test("withConsumers refuses the name of no collection", () => {
  const { withConsumers } = typedCode({ notes: {} });
  assert.throws(() => withConsumers({ note: {} } as object), /no collection has the name "note"/);
});
