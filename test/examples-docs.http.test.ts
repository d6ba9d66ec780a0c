/** Reference pages whose examples continue each other: they are run in order against a service. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { updateOperators } from "../src/collection/update.ts";
import { bulkMembers } from "../src/http/batch/bulk-content.ts";
import { rewindMembers } from "../src/http/writes/rewind-content.ts";
import { type Service, startService } from "./http/service.ts";
import { until } from "./until.ts";

/** The pages, and the number of examples that each has at least. */
const pages = { batch: 4, "update-operators": 4, bulk: 5, import: 3, rewind: 4, tasks: 4 };

/** The time of the first example of a page about times. The others follow, one minute apart. */
const firstTime = Date.UTC(2026, 0, 31, 8);
let clock = firstTime;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The ids of the service by those of a page. */
type Ids = Map<string, string>;

function withIds(ids: Ids, text: string): string {
  return text.replace(uuid, (id) => ids.get(id) ?? id);
}

/** Pairs the ids in two texts in which they stand in the same order. */
function learnIds(ids: Ids, shown: string, real: string): void {
  const theirs = real.match(uuid) ?? [];
  for (const [index, id] of (shown.match(uuid) ?? []).entries()) {
    if (!ids.has(id)) ids.set(id, theirs[index] ?? "");
  }
}

/** The text with the members of each object in the order of their names, so that ids can be compared in order. */
function ordered(text: string): string {
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Waits for the end of a task. */
async function ended(service: Service, path: string): Promise<void> {
  await until("the task ends", async () => {
    const { endedAt } = (await service.send({ path })).json as { endedAt?: string };
    return endedAt !== undefined;
  });
}

for (const [page, least] of Object.entries(pages))
  describe(`the reference page ${page}`, () => {
    const ids: Ids = new Map();
    const reference = readFileSync(`docs/reference/${page}.md`, "utf8");
    const blocks = [...reference.matchAll(/^```http\n(.*?)\n\n(.*?)^```$/gms)].map(
      ([, first = "", json = ""]): [string, string] => [first, json],
    );
    let service: Service;
    before(async () => {
      service = await startService({ ...(page === "rewind" && { now: () => clock }) });
    });
    after(() => service.stop());

    test("has examples, each with its answer", () => {
      assert.ok(blocks.length >= 2 * least && blocks.length % 2 === 0, `${blocks.length} blocks`);
    });

    for (let n = 0; n < blocks.length; n += 2) {
      const [head, json] = blocks[n] as [string, string];
      const [status, shown] = blocks[n + 1] as [string, string];
      test(`says rightly what comes of example ${n / 2 + 1}`, async () => {
        clock = firstTime + (n / 2) * 60_000;
        const [line = "", ...lines] = head.split("\n");
        const [method = "", path = ""] = line.split(" ");
        const headers = Object.fromEntries(lines.map((each) => each.split(": ")));
        if (path.includes("_tasks/")) await ended(service, withIds(ids, path).replace("/_undo", ""));
        const answer = await service.send({
          method,
          path: withIds(ids, path),
          headers,
          ...(json.trim() === ""
            ? {}
            : /[/+]json$/.test(headers["Content-Type"] ?? "application/json")
              ? { content: JSON.parse(withIds(ids, json)) }
              : { body: json }),
        });
        assert.equal(answer.status, Number(status), answer.text);
        if (answer.status < 300) learnIds(ids, ordered(shown), ordered(answer.text));
        const expected = JSON.parse(withIds(ids, shown)) as Record<string, unknown>;
        const given = answer.json as Record<string, unknown>;
        for (const [name, value] of Object.entries(expected)) assert.deepEqual(given[name], value, name);
      });
    }
  });

test("the reference of bulk changes tells every member of a request and a response", () => {
  const reference = readFileSync("docs/reference/bulk.md", "utf8");
  const listed = [...reference.matchAll(/^\| `([a-zA-Z]+)` \| /gm)].map(([, name]) => name);
  assert.deepEqual(listed, [...bulkMembers, "matched", "changed", "dryRun", "ids"]);
});

test("the reference of update operators tells every operator", () => {
  const reference = readFileSync("docs/reference/update-operators.md", "utf8");
  const rows = [...reference.matchAll(/^\| (`\$[^|]+) \| /gm)].map(([, cell = ""]) => cell);
  const listed = rows.flatMap((cell) => cell.match(/\$[a-zA-Z]+/g) ?? []);
  assert.deepEqual(listed, updateOperators);
});

test("the reference of batches tells every member and header of an operation", () => {
  const reference = readFileSync("docs/reference/batch.md", "utf8");
  const listed = [...reference.matchAll(/^\| `([a-z]+)` \| /gm)].map(([, name]) => name);
  assert.deepEqual(listed, ["method", "path", "headers", "body", "as"]);
});

test("the reference of rewinds tells every member of a request", () => {
  const reference = readFileSync("docs/reference/rewind.md", "utf8");
  const [, section = ""] = /^## Request\n(.*?)^## /ms.exec(reference) ?? [];
  const listed = [...section.matchAll(/^\| `([a-zA-Z]+)` \| /gm)].map(([, name]) => name);
  assert.deepEqual(listed, [...rewindMembers]);
});
