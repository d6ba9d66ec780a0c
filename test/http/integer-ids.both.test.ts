import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { itemsFrom } from "./pages.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ collections: { numbers: { id: "integer" } } });

const post = (content: unknown) => service.send({ method: "POST", path: "/api/v1/numbers", content });

describe("a collection of integer ids", () => {
  test("gives ids that are JSON numbers and ascend", async () => {
    const ids: number[] = [];
    for (let n = 0; n < 12; n++) {
      const answer = await post({ n });
      const { id } = answer.json as { id: number };
      assert.ok(Number.isSafeInteger(id), answer.text);
      check(answer, {
        status: 201,
        headers: {
          Location: `/api/v1/numbers/${id}`,
          "Content-Location": `/api/v1/numbers/${id}`,
          ETag: '"1"',
        },
        json: { id, n },
      });
      ids.push(id);
    }
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(ids).size, 12);
    const all = await itemsFrom<{ id: number }>(service.send, "/api/v1/numbers?limit=5");
    assert.deepEqual(
      all.map(({ id }) => id),
      ids,
      "2 comes before 10",
    );
  });

  test("takes the id in a PUT as number or as its shortest text, and gives the number back", async () => {
    const { path, body } = await service.create("numbers", { n: 0 });
    const id = body.id as number;
    for (const [n, sent] of [id, String(id)].entries())
      check(await service.send({ method: "PUT", path, content: { id: sent, n: n + 1 } }), {
        status: 200,
        headers: { "Content-Location": path },
        json: { id, n: n + 1 },
      });
  });

  test("refuses every other id in a PUT or PATCH", async () => {
    const { path, body } = await service.create("numbers", { n: 0 });
    const id = body.id as number;
    for (const sent of [`0${id}`, `${id}.0`, ` ${id}`, `+${id}`, id + 1, id + 0.5, [id], true, null, {}, ""])
      for (const method of ["PUT", "PATCH"])
        check(await service.send({ method, path, content: { id: sent, n: 1 } }), {
          status: 400,
          problem: "ID_MISMATCH",
        });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"1"' }, json: body });
  });

  test("knows a resource by the shortest text of its id alone", async () => {
    const { id } = await service.create("numbers", {});
    for (const odd of [
      `0${id}`,
      `${id}.0`,
      `+${id}`,
      `${id}e0`,
      `%20${id}`,
      `-${id}`,
      `0x${Number(id).toString(16)}`,
    ])
      check(await service.send({ path: `/api/v1/numbers/${odd}` }), { status: 404 });
    for (const odd of ["9007199254740993", "1e400", "abc", "99999999999999999999999"])
      check(await service.send({ path: `/api/v1/numbers/${odd}` }), { status: 404 });
  });

  test("never gives an id again", async () => {
    const first = await service.create("numbers", {});
    check(await service.send({ method: "DELETE", path: first.path }), { status: 205 });
    const second = await service.create("numbers", { id: Number(first.id) });
    assert.ok(Number(second.id) > Number(first.id));
    check(await service.send({ path: first.path }), { status: 404 });
  });
});
