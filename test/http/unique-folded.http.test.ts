/** Unique values without regard to case and accents, and what happens when another version folds differently. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceForFile } from "./service.ts";

const text = { type: "string", maxLength: 50 } as const;
const service = await startServiceForFile({
  collections: {
    people: {
      id: "integer",
      schema: { type: "object", properties: { name: text, nick: text } },
      unique: [
        { attribute: "name", ignore: "accents" },
        { attribute: "nick", ignore: "case" },
      ],
    },
  },
});
const post = (content: object) => service.send({ method: "POST", path: "/api/v1/people", content });

test("a value that differs only in what is ignored is taken, also for 20 clients at once", async () => {
  const forms = ["Zoë", "ZOE", "zoe\u0308", "Ｚｏｅ"];
  const made = await Promise.all(Array.from({ length: 20 }, (_, n) => post({ name: forms[n % 4] })));
  assert.deepEqual(made.filter(({ status }) => status === 201).length, 1);
  for (const { status, text: body } of made.filter((each) => each.status !== 201)) {
    assert.equal(status, 409);
    assert.match(body, /UNIQUE_VIOLATION/);
  }
  assert.deepEqual(
    [await post({ nick: "ÉVA" }), await post({ nick: "eva" }), await post({ nick: "éva" })].map(
      ({ status }) => status,
    ),
    [201, 201, 409],
  );
});

test("the description of the collection says what is ignored", async () => {
  const { text: body } = await service.send({ path: "/api/v1/_collections" });
  assert.match(body, /"unique":\[\{"attribute":"name","ignoreCase":false,"ignore":"accents"\}/);
});
