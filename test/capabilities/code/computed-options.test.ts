import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { warningsAboutComputed } from "../../../src/capabilities/code/computed/computed-warnings.ts";
import { loadConfig } from "../../../src/config.ts";
import { StartError } from "../../../src/errors.ts";
import { makeFolder } from "../../folder.ts";

const folder = makeFolder();
let files = 0;

/** The faults of a configuration, each without the name of the file. */
async function faultsOf(source: string, ending = "ts"): Promise<string[]> {
  const name = `config-${files++}.${ending}`;
  writeFileSync(join(folder, name), source);
  try {
    await loadConfig({ cwd: folder, flags: { config: name }, env: {} });
    return [];
  } catch (error) {
    assert.ok(error instanceof StartError, String((error as Error).stack));
    return error.faults.map(({ text }) => text.replace(`${name}: `, ""));
  }
}

/** A configuration with these members of the collection `orders`. */
const orders = (members: string, more = "") =>
  `const value = () => 1; export default { collections: { orders: { ${members} }, people: {}, ${more} } };`;

/** The collection with one computed attribute. */
const total = (members: string, more = "") =>
  orders(
    `schema: { type: "object", properties: { lines: {}, personId: {} } }, computed: { total: { ${members} } }, ${more}`,
  );

const at = "collections.orders.computed";

for (const [what, source, ...faults] of [
  [
    "no object",
    orders("computed: 1"),
    `${at} must be an object such as { "total": { "from": ["lines"], "value": … } }, not 1.`,
  ],
  [
    "no attributes",
    orders("computed: {}"),
    `${at} must be an object such as { "total": { "from": ["lines"], "value": … } }, not {}.`,
  ],
  [
    "several faults of one attribute",
    total("from: [], version: 0, schema: 5, value: 1"),
    `${at}.total.from must be a list of attributes such as ["lines"], not [].`,
    `${at}.total.version must be a whole number of at least 1, not 0.`,
    `${at}.total.schema must be a JSON Schema such as { "type": "number" }, not 5.`,
    `${at}.total.value must be a function, not 1.`,
  ],
  [
    "an async function",
    total('from: ["lines"], value: async () => 1'),
    `${at}.total.value is async, but it must be synchronous. Remove "async". To call other services, use a consumer or a route.`,
  ],
  [
    "a misspelled option",
    total('from: ["lines"], vaule: value'),
    `${at}.total.vaule is a function, which is not a JSON value.`,
    `${at}.total.vaule is not an option of a computed attribute. Did you mean "value"?`,
  ],
  [
    "an attribute that does not exist",
    total('from: ["line"], value'),
    `${at}.total.from: "line" is not an attribute of the schema. Did you mean "lines"?`,
  ],
  [
    "the id",
    total('from: ["id"], value'),
    `${at}.total.from: the service sets "id" after it has computed. Name only attributes that clients send.`,
  ],
  [
    "timestamps",
    total('from: ["createdAt"], value', "timestamps: true"),
    `${at}.total.from: the service sets "createdAt" after it has computed. Name only attributes that clients send.`,
  ],
  [
    "the attribute itself and another computed one",
    orders('computed: { a: { from: ["a"], value }, b: { from: ["a"], value } }'),
    `${at}.a.from: an attribute cannot be computed from itself. Name only attributes that clients send.`,
    `${at}.b.from: a is computed too. Name only attributes that clients send.`,
  ],
  [
    "a name with a dot",
    orders('computed: { "a.b": { from: ["x"], value } }'),
    `${at}.a.b: "a.b" cannot be computed. Choose another name, without dots.`,
  ],
  [
    "an attribute that the schema declares too",
    orders(
      'schema: { properties: { total: {}, lines: {} } }, computed: { total: { from: ["lines"], value } }',
    ),
    `${at}.total: the schema declares "total" too. Remove it there, and write its schema in ${at}.total.schema.`,
  ],
  [
    "a rule that clients can change it",
    total('from: ["lines"], value', "attributes: { total: { readOnly: false } }"),
    "collections.orders.attributes.total.readOnly: the attribute is computed, so clients cannot change it. Remove this.",
  ],
  [
    "defaults",
    total('from: ["lines"], value, schema: { default: 1 }', "defaults: { total: 1 }"),
    `${at}.total.schema.default: a computed attribute has no default. Return it from value.`,
  ],
  [
    "a default of the collection",
    total('from: ["lines"], value', "defaults: { total: 1 }"),
    `collections.orders.defaults.total: a computed attribute has no default. Return it from ${at}.total.value.`,
  ],
  [
    "an expiry",
    total('from: ["lines"], value', 'expires: "total"'),
    'collections.orders.expires: "total" is computed, and an error in its function would delete resources. Set the attribute in hooks.before instead.',
  ],
  [
    "a reference that a delete clears",
    total(
      'from: ["personId"], value',
      'references: { personId: { collection: "people", onDelete: "clear" } }',
    ),
    `${at}.total.from: "personId" is a reference with onDelete "clear", so a delete would change it without computing. Choose "restrict" or "cascade", or compute without it.`,
  ],
  [
    "too many attributes",
    orders(
      `computed: { ${Array.from({ length: 21 }, (_, n) => `a${n}: { from: ["x"], value }`).join(", ")} }`,
    ),
    `${at} has 21 attributes. A collection can have at most 20.`,
  ],
  [
    "a schema that is no schema",
    total('from: ["lines"], value, schema: { type: "numbr" }'),
    `${at}.total.schema at type: the value must be one of "array", "boolean", "integer", "null", "number", "object", "string".`,
  ],
] as const)
  test(`computed attributes refuse ${what}`, async () => {
    assert.deepEqual(await faultsOf(source), faults);
  });

test("computed attributes accept what is right", async () => {
  const source = total('from: ["lines"], value', 'attributes: { total: { roles: ["x"] } }');
  assert.deepEqual(
    await faultsOf(source.replace("{ collections", "{ auth: { keys: true }, collections")),
    [],
  );
});

test("a JSON file cannot have computed attributes", async () => {
  const content = { collections: { orders: { computed: { total: { from: ["lines"], value: "x" } } } } };
  assert.deepEqual(await faultsOf(JSON.stringify(content), "json"), [
    `${at}: a JSON file cannot have functions. Write the configuration as holdfast.config.ts: export default defineConfig({ … })`,
  ]);
});

test("a check warns about a value that shows something of a hidden attribute", async () => {
  const config = `const value = () => 1; export default { auth: { keys: true }, collections: { offers: {
    attributes: { cost: { roles: ["buyers"] }, margin: { roles: ["buyers"] }, pin: { writeOnly: true } },
    computed: { margin: { from: ["cost"], value }, isDear: { from: ["cost", "price"], value }, hint: { from: ["pin"], value } },
  } } };`;
  writeFileSync(join(folder, "warned.config.ts"), config);
  const { code, collections } = await loadConfig({
    cwd: folder,
    flags: { config: "warned.config.ts" },
    env: {},
  });
  assert.deepEqual(warningsAboutComputed(code.computed, collections), [
    'collections.offers.computed.isDear is computed from "cost", which fewer callers can see. Its value can reveal something about "cost".',
    'collections.offers.computed.hint is computed from "pin", which fewer callers can see. Its value can reveal something about "pin".',
  ]);
});
