import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileSchema, defineCollection } from "../../src/collection/declaration.ts";
import { StartError } from "../../src/errors.ts";

type Schema = Record<string, unknown>;

/** The violations of a value as `pointer code`, in the order of the pointers. */
async function judge(schema: Schema, text: string | object): Promise<string[]> {
  const validate = await compileSchema(schema, "here");
  const value = typeof text === "string" ? JSON.parse(text) : text;
  return validate(value)
    .map(({ pointer, code }) => `${pointer} ${code}`)
    .sort();
}

const one = (schema: Schema): Schema => ({ type: "object", properties: { a: schema } });

describe("a value that breaks a rule", () => {
  const cases: [schema: Schema, value: unknown, code: string, detail: string][] = [
    [{ type: "string" }, 1, "type", "must be a string"],
    [{ type: ["integer", "null"] }, "1", "type", "must be an integer or null"],
    [{ type: "integer" }, 1.5, "type", "must be an integer"],
    [{ minLength: 1 }, "", "minLength", "must have at least 1 character"],
    [{ maxLength: 2 }, "a😀b", "maxLength", "must have at most 2 characters"],
    [{ pattern: "^[0-9]+$" }, "x", "pattern", "must match the pattern ^[0-9]+$"],
    [{ minimum: 0 }, -1, "minimum", "must be at least 0"],
    [{ maximum: 0 }, 1, "maximum", "must be at most 0"],
    [{ exclusiveMinimum: 0 }, 0, "exclusiveMinimum", "must be greater than 0"],
    [{ exclusiveMaximum: 0 }, 0, "exclusiveMaximum", "must be less than 0"],
    [{ multipleOf: 0.01 }, 19.995, "multipleOf", "must be a multiple of 0.01"],
    [{ minItems: 1 }, [], "minItems", "must have at least 1 item"],
    [{ maxItems: 1 }, [1, 2], "maxItems", "must have at most 1 item"],
    [{ prefixItems: [{}], items: false }, [1, 2], "items", "must have at most 1 item"],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "uniqueItems",
      "must not contain the same item twice",
    ],
    [
      { contains: { const: 1 } },
      [2],
      "contains",
      "must have at least 1 item of the kind that the schema requires",
    ],
    [{ minProperties: 1 }, {}, "minProperties", "must have at least 1 attribute"],
    [{ maxProperties: 1 }, { a: 1, b: 1 }, "maxProperties", "must have at most 1 attribute"],
    [{ enum: ["a", 1, null] }, "b", "enum", 'must be one of "a", 1, null'],
    [{ const: "a" }, "b", "const", 'must be "a"'],
    [{ format: "email" }, "x", "format", "must be an email address"],
    [{ format: "date" }, "2024-02-30", "date", "must be a valid date, as YYYY-MM-DD"],
    [
      { format: "date-time" },
      "2024-01-01",
      "date",
      "must be a valid date and time, as YYYY-MM-DDThh:mm:ss.SSSZ",
    ],
    [{ format: "unix-millis" }, 0.5, "date", "must be Unix time in whole milliseconds"],
    [
      { anyOf: [{ type: "string" }, { type: "null" }] },
      1,
      "anyOf",
      "must match at least one of the schema's alternatives",
    ],
    [
      { oneOf: [{ minimum: 1 }, { maximum: 5 }] },
      3,
      "oneOf",
      "must match only one of the schema's alternatives, but matches several",
    ],
    [
      { oneOf: [{ type: "string" }, { type: "null" }] },
      3,
      "oneOf",
      "must match one of the schema's alternatives",
    ],
    [{ not: { type: "string" } }, "x", "not", "must not match what the schema excludes"],
  ];
  for (const [schema, value, code, detail] of cases) {
    test(`of ${JSON.stringify(schema)} is told what would be right`, async () => {
      const validate = await compileSchema(one(schema), "here");
      assert.deepEqual(validate({ a: value }), [{ in: "body", pointer: "#/a", code, detail }]);
    });
  }

  test("names the attribute that is missing, not the object around it", async () => {
    const schema = one({ type: "object", required: ["b/c"], dependentRequired: { x: ["y"] } });
    assert.deepEqual(await judge(schema, { a: { x: 1 } }), ["#/a/b~1c required", "#/a/y dependentRequired"]);
  });

  test("names the attribute whose name is wrong", async () => {
    assert.deepEqual(await judge(one({ propertyNames: { maxLength: 1 } }), { a: { b: 1, cd: 1 } }), [
      "#/a/cd propertyNames",
    ]);
  });

  test("has a pointer that is a URI fragment", async () => {
    const schema = { type: "object", additionalProperties: { type: "string" } };
    assert.deepEqual(await judge(schema, { "a/b~c": 1, "é #%": 1, "[x]": 1, "": 1 }), [
      "#/ type",
      "#/%5Bx%5D type",
      "#/%C3%A9%20%23%25 type",
      "#/a~1b~0c type",
    ]);
  });

  test("tells what was broken in the branch that applies, and nothing else", async () => {
    const schema = {
      properties: { kind: { type: "string" } },
      if: { properties: { kind: { const: "a" } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      then: { required: ["x"], properties: { x: { type: "integer" } } },
    };
    assert.deepEqual(await judge(schema, { kind: "a", x: "1" }), ["#/x type"]);
    assert.deepEqual(await judge(schema, { kind: "a", x: 1 }), []);
    assert.deepEqual(await judge(schema, { kind: "b", x: 1 }), ["#/x unknownAttribute"]);
  });
});

describe("a value that fits", () => {
  const fits: [schema: Schema, value: unknown][] = [
    [{ multipleOf: 0.01 }, 19.99],
    [{ multipleOf: 0.01 }, 0],
    [{ multipleOf: 0.1 }, 4.35e10],
    [{ uniqueItems: true }, [1, "1", [1], ["1"], { a: 1 }, { a: 2 }, null, "null", true, "true"]],
    [{ enum: [{ a: 1, b: [2] }] }, { b: [2], a: 1 }],
    [{ type: "integer" }, 1.0],
    [{ pattern: "^\\p{Letter}+\\p{Script=Greek}$" }, "Aéα"],
    [{ pattern: "^.$" }, "😀"],
    [{ type: "object" }, { any: { thing: [1] } }],
    [true, 1],
  ] as [Schema, unknown][];
  for (const [schema, value] of fits) {
    test(`${JSON.stringify(schema)} takes ${JSON.stringify(value)}`, async () => {
      assert.deepEqual(await judge(one(schema), { a: value }), []);
    });
  }

  test("is not changed: nothing is coerced, filled in or removed", async () => {
    const schema = { properties: { a: { type: "string", default: "x" }, b: { type: "integer" } } };
    const value = { b: 1 };
    assert.deepEqual(await judge(schema, value), []);
    assert.deepEqual(value, { b: 1 });
    assert.deepEqual(await judge(schema, { a: null, b: "1" }), ["#/a type", "#/b type"]);
  });
});

describe("formats", () => {
  const cases: [format: string, good: unknown[], bad: unknown[]][] = [
    ["date-value", ["2024-02-29", "2024-02-29T00:00:00.000Z", 0], ["2024-02-30", 0.5, null, true, [], {}]],
    ["unix-millis", [0, -1, "left to the type"], [0.5, 9e15]],
    ["email", ["a@example.org", 5], ["a", "a@", "@b.c", "a b@c.d"]],
    ["uuid", ["01890a5d-ac96-774b-bcce-b302099a8057"], ["01890a5d"]],
    ["uri", ["https://example.org/a?b#c", "urn:a:b"], ["/a", "example.org", "http:// "]],
    ["ipv4", ["127.0.0.1"], ["256.0.0.1", "1.2.3"]],
    ["ipv6", ["::1"], ["1::2::3"]],
    ["hostname", ["a.example.org"], ["-a", `${"a".repeat(64)}.org`]],
    ["time", ["10:30:00Z"], ["10:30", "25:00:00Z"]],
    ["duration", ["P3DT12H"], ["3D", "P"]],
    ["json-pointer", ["", "/a~1b"], ["a", "/~2"]],
    ["regex", ["^a+$"], ["(", "\\Z"]],
    ["byte", ["", "AAAA", "AA==", "A".repeat(100_000)], ["AAA", "AAAA\n****", "A==="]],
    ["int32", [2 ** 31 - 1], [2 ** 31, 0.5]],
  ];
  for (const [format, good, bad] of cases) {
    test(`${format} takes what it should, and nothing else`, async () => {
      const validate = await compileSchema(one({ format }), "here");
      for (const a of good) assert.deepEqual(validate({ a }), [], JSON.stringify(a));
      for (const a of bad) assert.equal(validate({ a }).length, 1, JSON.stringify(a));
    });
  }
});

describe("patterns that would hang a backtracking engine", () => {
  for (const pattern of ["^(a|a)*$", "(a+)+$", "^(a+)+b$", "(a+a+)+b", "^([a-z]+)*\\d$"]) {
    test(`${pattern} is decided for 30,000 characters`, async () => {
      assert.deepEqual(await judge(one({ pattern }), { a: `${"a".repeat(30_000)}!` }), ["#/a pattern"]);
    });
  }

  test("two patterns in one schema are not taken for each other", async () => {
    const schema = { properties: { a: { pattern: "^[0-9]+$" }, b: { pattern: "^[a-z]+$" } } };
    assert.deepEqual(await judge(schema, { a: "x", b: "1" }), ["#/a pattern", "#/b pattern"]);
    assert.deepEqual(await judge(schema, { a: "1", b: "x" }), []);
  });

  test("patternProperties use the same engine", async () => {
    const schema = { patternProperties: { "^n_": { type: "number" } } };
    assert.deepEqual(await judge(schema, { n_a: "1", s_a: "1" }), ["#/n_a type"]);
  });
});

describe("many violations", () => {
  test("end at fifty", async () => {
    const schema = one({ type: "array", items: { type: "string" } });
    assert.equal((await judge(schema, { a: Array(500).fill(1) })).length, 50);
  });

  test("of content that is too large to be searched are told one by one", async () => {
    const schema = one({ type: "array", items: { type: "string" } });
    assert.deepEqual(await judge(schema, { a: Array(20_000).fill(1) }), ["#/a/0 type"]);
    assert.deepEqual(
      await judge({ properties: { a: { type: "null" }, b: { type: "null" } } }, { a: "x".repeat(2e6), b: 1 }),
      ["#/a type"],
    );
  });
});

describe("the declaration of a collection", () => {
  test("gives its name, kind of id and schema as it was written", async () => {
    const schema = { type: "object", properties: { a: {} } };
    const collection = await defineCollection("notes", { id: "integer", schema });
    assert.equal(collection.name, "notes");
    assert.equal(collection.idKind, "integer");
    assert.equal(collection.schema, JSON.stringify(schema));
    assert.deepEqual(
      schema,
      { type: "object", properties: { a: {} } },
      "the schema given is not closed in place",
    );
  });

  test("takes anything without a schema", async () => {
    const collection = await defineCollection("notes", {});
    assert.deepEqual(
      [collection.idKind, collection.schema, collection.validate({ a: 1 })],
      ["uuid", undefined, []],
    );
  });

  for (const name of ["", "1a", "_a", "a b", "a.b", "a/b", "é", "a".repeat(64)]) {
    test(`cannot have the name ${JSON.stringify(name)}`, async () => {
      await assert.rejects(defineCollection(name, {}), StartError);
    });
  }

  test("cannot have another kind of id", async () => {
    for (const id of ["Integer", "toString", 5, null])
      await assert.rejects(
        defineCollection("a", { id } as never),
        /collections\.a\.id must be "uuid" or "integer", not/,
      );
  });

  test("requires preconditions or does not, and only once it says so", async () => {
    for (const requirePreconditions of ["true", 1, null])
      await assert.rejects(
        defineCollection("a", { requirePreconditions } as never),
        /collections\.a\.requirePreconditions must be true or false/,
      );
    assert.equal((await defineCollection("a", {})).requirePreconditions, false);
    assert.equal((await defineCollection("a", { requirePreconditions: true })).requirePreconditions, true);
  });
});

test("a closed object that requires what it does not have is refused, with the nearest name", async () => {
  const properties = { title: { type: "string" } };
  const refused = [
    { type: "object", required: ["titel"], properties },
    { type: "object", required: ["titel"], properties, additionalProperties: false },
    { type: "object", properties: { inner: { type: "object", required: ["titel"], properties } } },
  ];
  for (const schema of refused)
    await assert.rejects(
      defineCollection("topics", { schema }),
      /required: "titel" is not among the properties, so no resource fits\. Did you mean "title"\?/,
    );
  const taken = [
    { type: "object", required: ["titel"], properties, additionalProperties: true },
    { type: "object", required: ["titel"], properties, patternProperties: { "^t": {} } },
    { type: "object", required: ["titel"], properties, allOf: [{ properties: { titel: {} } }] },
    {
      type: "object",
      properties: { ...properties, titel: {} },
      anyOf: [{ required: ["titel"], properties }],
    },
  ];
  for (const schema of taken) await defineCollection("topics", { schema });
});
