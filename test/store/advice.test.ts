/** The advice for a list that took too long: the proposed index makes the list fast. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { readIndexes } from "../../src/collection/indexes.ts";
import { ownFilter } from "../../src/query/filter.ts";
import { parseList } from "../../src/query/query-string.ts";
import { ownSort } from "../../src/query/sort.ts";
import { accessPathOf, isQuick } from "../../src/store/core/access-path.ts";
import { adviceFor } from "../../src/store/core/advice.ts";

function askedBy(query: string, count = false) {
  const { filter, sort } = parseList(query, openCollection("topics"), 1_000);
  return { ...(filter && { filter: ownFilter(filter) }), sort: ownSort(sort), count };
}

describe("the advice for a list", () => {
  test("says that no index serves a sort by related resources", () => {
    const relation = { kind: "reference", collection: "users", path: ["authorId"] } as const;
    const through = { kind: "related", relation, filter: { kind: "and", filters: [] } } as const;
    const query = { sort: [{ path: ["id"], descending: false, through }] } as const;
    const advice = "No index supports a sort by related resources. Add a filter that fewer resources match.";
    assert.equal(adviceFor(query, []), advice);
    // The attribute of a related resource is not that of the resource itself.
    const named = { sort: [{ path: ["n"], descending: false, through }] } as const;
    assert.equal(accessPathOf(named, readIndexes(["n"], "indexes")), undefined);
    assert.equal(adviceFor(named, readIndexes(["n"], "indexes")), advice);
  });

  const advised: [query: string, index: unknown, sort?: string][] = [
    ["sort=-n", "-n"],
    ["status=open", "status"],
    ["status=open&sort=-n", ["status", "-n"]],
    ["status=open&kind=a&sort=n,-m", ["status", "kind", "n", "-m"]],
    ['filter={"status":"open","n":{"gt":1,"lt":5}}&sort=n', ["status", "n"]],
    ['filter={"n":{"gt":1}}', "n", "n"],
    ['filter={"status":"open","n":{"gt":1}}', ["status", "n"], "n"],
    ["status=open&sort=status,n", ["status", "n"]],
    ["sort=n,id", "n"],
    ["a.b=x&sort=c", ["a.b", "c"]],
  ];
  for (const [query, index, sort] of advised)
    test(`names an index that serves ${query}`, () => {
      const spelled = JSON.stringify([index]);
      const request = sort === undefined ? "" : `, and sort=${sort} to the request`;
      const advice = `An index would make it fast: add "indexes": ${spelled} to the collection's configuration${request}.`;
      assert.equal(adviceFor(askedBy(query), []), advice);
      const followed = askedBy(sort === undefined ? query : `${query}&sort=${sort}`);
      assert.notEqual(accessPathOf(followed, readIndexes([index], "indexes")), undefined);
    });

  const partly: [query: string, index: unknown][] = [
    ["status=open&title:contains=x", "status"],
    ['filter={"n":{"gte":5}}&sort=-m', "-m"],
    ['filter={"n":{"gte":5},"m":{"gte":5}}', "n"],
    ['filter={"n":{"eq":5,"lt":6}}', "n"],
  ];
  for (const [query, index] of partly)
    test(`promises no more than it can for ${query}`, () => {
      const advice = adviceFor(askedBy(query), []);
      assert.ok(advice.startsWith("An index would make it faster: "), advice);
      assert.ok(advice.includes(`"indexes": ${JSON.stringify([index])} to`), advice);
      assert.match(advice, / No index supports the rest of the filter\.$/);
    });

  test("names no index where none would help", () => {
    assert.match(adviceFor(askedBy("title:contains=x"), []), /^No index supports such a filter/);
  });

  test("names no index for an attribute that is asked for twice, but what to ask instead", () => {
    for (const filter of ['{"and":[{"n":1},{"n":2}]}', '{"and":[{"n":{"gt":1}},{"n":{"gt":2}}]}'])
      assert.match(
        adviceFor(askedBy(`filter=${filter}&sort=n`), []),
        /^No index supports several conditions on "n"\. Use one condition/,
      );
  });

  test("names no index that is there already, but what is slow beside it", () => {
    const indexes = readIndexes(["status"], "indexes");
    assert.match(adviceFor(askedBy("status=open", true), indexes), /count=none/);
    assert.match(adviceFor({ ...askedBy("status=open"), offset: 50_000 }, indexes), /Page with "cursor"/);
    assert.match(adviceFor({ ...askedBy(""), count: true, offset: 50_000 }, indexes), /Page with "cursor"/);
  });
});

describe("a list of ids", () => {
  test("is read at once where ids are all that is asked for", () => {
    for (const query of ["", "sort=-id", "id=a&id=b", "id=a&id=b&sort=-id"])
      assert.equal(isQuick(askedBy(query), []), true, query);
  });

  test("is read beside everything else where the texts of resources have to be looked through", () => {
    for (const query of ["id=a&id=b&n:contains=x", "id=a&id=b&sort=n", 'filter={"id":["a"],"not":{"n":1}}']) {
      assert.equal(isQuick(askedBy(query), []), false, query);
      assert.match(adviceFor(askedBy(query), []), /^Filter by fewer ids/);
    }
  });
});
