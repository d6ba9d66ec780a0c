/** The reference of exact numbers: each row of its tables is tried against a service. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { GuardedDeclaration } from "../src/access/access-declaration.ts";
import { type Service, startService } from "./http/service.ts";

const reference = readFileSync("docs/reference/exact-numbers.md", "utf8");

type Collections = Readonly<Record<string, GuardedDeclaration>>;

function declared(): Collections {
  const [, text = ""] = /^```js\nexport default (.*?)^```$/ms.exec(reference) ?? [];
  const read = new Function("defineConfig", `return ${text}`);
  return read((config: unknown) => config).collections as Collections;
}

/** The rows of the table with these headings. */
function rowsOf(...headings: readonly string[]): string[][] {
  const [, table = ""] = reference.split(`\n| ${headings.join(" | ")} |\n`);
  const [rows = ""] = table.split("\n\n");
  return rows
    .split("\n")
    .slice(1)
    .map((row) => row.split(/^\| | \| | \|$/).slice(1, -1));
}

const codeIn = (cell = "") => /`(.*)`/.exec(cell)?.[1] ?? "";

describe("the reference of exact numbers", () => {
  let service: Service;
  const path = "/api/v1/sales";
  before(async () => {
    service = await startService({ collections: declared() });
    const [, lines = ""] = /^```ndjson\n(.*?)^```$/ms.exec(reference) ?? [];
    for (const line of lines.trim().split("\n")) await service.create("sales", JSON.parse(line));
  });
  after(() => service.stop());

  const found = rowsOf("request", "ids in the response");
  assert.ok(found.length >= 13, `${found.length} requests`);
  for (const [request, ids] of found)
    test(`says rightly what ${request} finds`, async () => {
      const { status, json } = await service.send({ path: `${path}?${encodeURI(codeIn(request))}` });
      const answer = status === 400 ? "400" : (json as { id: number }[]).map(({ id }) => id).join(", ");
      assert.equal(answer, ids);
    });

  const figures = rowsOf("request", "response");
  assert.ok(figures.length >= 6, `${figures.length} figures`);
  for (const [request, response] of figures)
    test(`says rightly what comes of ${request}`, async () => {
      const { text } = await service.send({ path: `${path}?${codeIn(request)}` });
      assert.equal(text, codeIn(response));
    });

  for (const [value, inPrice, inBytes] of rowsOf("value", "in `price`", "in `bytes`"))
    test(`says rightly what is done with ${value}`, async () => {
      for (const [name, said] of [
        ["price", inPrice],
        ["bytes", inBytes],
      ] as const) {
        const content = { [name]: JSON.parse(codeIn(value)) };
        const { status } = await service.send({ method: "POST", path, content });
        assert.equal(status === 201 ? "accepted" : String(status), said, name);
      }
    });

  const updates = rowsOf("current value", "update", "result");
  assert.ok(updates.length >= 8, `${updates.length} updates`);
  for (const [current, update, result] of updates)
    test(`says rightly what ${update} makes of ${current}`, async () => {
      const given = current === "absent" ? {} : { price: JSON.parse(codeIn(current)) };
      const created = await service.send({ method: "POST", path, content: given });
      const { status, json } = await service.send({
        method: "PATCH",
        path: created.headers.location as string,
        headers: { "Content-Type": "application/vnd.holdfast.update+json" },
        content: JSON.parse(codeIn(update)),
      });
      const said = result?.startsWith("400") === true ? 400 : JSON.parse(codeIn(result));
      assert.equal(status === 200 ? (json as { price: string }).price : status, said);
    });
});
