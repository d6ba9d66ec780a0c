/** How the code of a configuration recognises why its client was refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const source = `
import { defineConfig, isProblem, route } from "holdfast";

const tags = { type: "object", properties: { name: { type: "string", maxLength: 5 } }, required: ["name"] };

/** What isProblem says of the error of a call. */
async function saysOf(call) {
  try {
    await call();
  } catch (error) {
    return {
      isProblem: isProblem(error),
      isOfCode: isProblem(error, "UNIQUE_VIOLATION"),
      isOfOne: isProblem(error, "VALIDATION_FAILED", "UNIQUE_VIOLATION"),
      status: isProblem(error) ? error.status : 0,
    };
  }
}

export default defineConfig({
  collections: { tags: { schema: tags, unique: ["name"] } },
  routes: {
    taken: route({ path: "taken", access: "public", run: ({ client }) => saysOf(() => client.tags.create({ name: "One" })) }),
    wrong: route({ path: "wrong", access: "public", run: ({ client }) => saysOf(() => client.tags.create({ name: "Too long" })) }),
    absent: route({ path: "absent", access: "public", run: ({ client }) => saysOf(() => client.tags.get("7")) }),
    own: route({ path: "own", access: "public", run: () => saysOf(() => { throw new Error("UNIQUE_VIOLATION"); }) }),
    body: route({ method: "POST", path: "body", access: "public", body: tags, run: () => {} }),
  },
});
`;

test("isProblem says whether a client was refused, and with which code", async (t) => {
  const { create, send } = await startFor(t, { module: source, isWatched: false });
  await create("tags", { name: "One" });
  const said = async (path: string) => (await send({ path: `/api/v1/${path}` })).json;
  assert.deepEqual(await said("taken"), { isProblem: true, isOfCode: true, isOfOne: true, status: 409 });
  assert.deepEqual(await said("wrong"), { isProblem: true, isOfCode: false, isOfOne: true, status: 400 });
  assert.deepEqual(await said("absent"), { isProblem: true, isOfCode: false, isOfOne: false, status: 404 });
  assert.deepEqual(await said("own"), { isProblem: false, isOfCode: false, isOfOne: false, status: 0 });
});

test("a body that does not match the schema of its route gets a sentence about the attribute", async (t) => {
  const { send } = await startFor(t, { module: source, isWatched: false });
  const detailOf = async (content: object) =>
    ((await send({ method: "POST", path: "/api/v1/body", content })).json as { detail: string }).detail;
  assert.equal(await detailOf({}), '"name" is required.');
  assert.equal(await detailOf([]), "The body must be an object.");
});
