/** The schema of webhooks is a constant: this test checks it, so no service has to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookCollection } from "../../../../src/capabilities/webhooks/webhook.ts";
import { compileSchema } from "../../../../src/collection/declaration.ts";
import { createPatterns } from "../../../../src/collection/patterns.ts";
import { createEngine } from "../../../../src/collection/schema-engine.ts";

/** The prototype of all engines of the program. Tests that import Ajv get another one. */
const engines = Object.getPrototypeOf(createEngine({ compilePattern: createPatterns() })) as ReturnType<
  typeof createEngine
>;

/** How often Ajv checks a schema while `work` runs. The first check in a process takes as long as hundreds of requests. */
async function checksDuring(work: () => Promise<unknown>): Promise<number> {
  const { validateSchema } = engines;
  let checks = 0;
  engines.validateSchema = function (...args) {
    checks++;
    return validateSchema.apply(this, args);
  };
  try {
    await work();
  } finally {
    engines.validateSchema = validateSchema;
  }
  return checks;
}

test("a service compiles the schema of webhooks without the meta-schema", async () => {
  const { collection, load } = webhookCollection();
  assert.equal(await checksDuring(load), 0);
  assert.notDeepEqual(collection.validate({}), []);
});

test("the meta-schema accepts the schema of webhooks", async () => {
  const { collection } = webhookCollection();
  const schema: unknown = JSON.parse(collection.schema ?? "");
  assert.equal(await checksDuring(() => compileSchema(schema, "the schema")), 1);
});
