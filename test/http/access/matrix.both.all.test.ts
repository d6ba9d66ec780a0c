/**
 * Tests over the wire what each caller gets at every route and method, with every kind of rule. A small model computes the expected responses
 * from the declared rules. `decisions.test.ts` compares all decisions with it in the process. Here, each row has one request for each
 * situation: two callers and resources about which the rules say the same get the same response.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Action, actions } from "../../../src/access/access-declaration.ts";
import { startServiceForFile } from "../service.ts";
import { auth, type Caller, outcome, sendAs } from "./callers.ts";
import {
  collections,
  type Expected,
  expected,
  expectedByKey,
  isRefused,
  knownAs,
  may,
  owners,
  referring,
  seeds,
  situationOf,
  unreferenced,
  who,
} from "./matrix-model.ts";
import { byKey, contentFor, prefix, rows, type Sent, sentTo } from "./matrix-rows.ts";

const declared = Object.entries(collections).map(([name, access]) => [name, access && { access }] as const);
const service = await startServiceForFile({
  auth,
  collections: Object.fromEntries(
    declared.map(([name, access]) => [name, { ...referring(name), ...access }]),
  ),
  seeds: Object.fromEntries(declared.map(([name]) => [name, [...seeds, ...unreferenced]])),
});

const names = Object.keys(collections);

/** A request of one caller about one resource. */
interface Case {
  name: string;
  authorId: string;
  caller: Caller | undefined;
}

const allCases: readonly Case[] = names.flatMap((name) =>
  owners.flatMap((authorId) => who.map((caller) => ({ name, authorId, caller }))),
);

/** One case of each situation. */
const cases = firstOfEach(allCases, ({ name, authorId, caller }) => situationOf(name, caller, authorId));

/** One case of each situation of a whole collection. A filter of a rule makes a situation of its own, because the store applies it. */
const listCases = firstOfEach(allCases, ({ name, caller }) =>
  JSON.stringify([
    owners.map((authorId) => situationOf(name, caller, authorId)),
    JSON.stringify(collections[name] ?? {}).includes("where") && [name, caller],
  ]),
);

/** One caller of each kind, for what no rule decides: without a credential, with one, with a role, with a scope, and two that are refused. */
const kinds = [undefined, "ada", "eve", "adaReads", "bad", "expired"] as const;

function firstOfEach<T>(all: readonly T[], keyOf: (each: T) => string): T[] {
  return [...Map.groupBy(all, keyOf).values()].flatMap(([first]) => first ?? []);
}

/** Sends the request as a caller, and compares the response with the model. */
async function compareAs(caller: Caller | undefined, sent: Sent, should: Expected): Promise<void> {
  const answer = await sendAs(service, caller, sent);
  const status = should === "go" ? sent.go : should;
  assert.equal(answer.status, status, `${caller} ${sent.method} ${sent.path}: ${outcome(answer)}`);
  const isChallenged = status === 401 || status === 403;
  assert.equal(answer.headers["www-authenticate"] !== undefined, isChallenged);
}

/** Sends the request as one caller of each kind, and compares the responses with the model. */
async function compare(sent: Sent, expectedFor: (caller: Caller | undefined) => Expected): Promise<void> {
  for (const caller of kinds) await compareAs(caller, sent, expectedFor(caller));
}

/** What the guard decides without a rule, for the requests to a path in a collection whose rules let no caller in. */
const expectedOfAnybody: Readonly<Record<string, (caller: Caller | undefined) => Expected>> = {
  administration: () => "go",
  anybody: () => "go",
  "each collection": (caller) => (isRefused(caller) ? 401 : "go"),
  "own tasks": (caller) => (caller === undefined || isRefused(caller) ? 401 : "go"),
};

function expectedOf(
  path: string,
  method: string,
  action: Action,
  { name, authorId, caller }: Case,
): Expected {
  if (path === "/{collection}" && byKey.includes(method))
    return expectedByKey(name, method, caller, authorId);
  if (path === "/{collection}/{id}/_restore") return expected(name, [action, "create"], caller, authorId);
  if (path !== "/{collection}/{id}/{relation}") return expected(name, [action], caller, authorId);
  // The caller must also be able to read the parent.
  const all = [
    expected(name, ["read"], caller),
    expected(name, [action], caller),
    expected(name, ["read"], caller, authorId),
    expected(name, [action], caller, authorId),
  ];
  return all.find((each) => each !== "go") ?? "go";
}

/** What anybody can do, and HEAD, which is GET without content, need no store: on PostgreSQL they are left out. */
const tested = Object.entries(rows).filter(
  ([row, action]) =>
    process.env.HOLDFAST_TEST_STORE !== "postgres" || (action !== "anybody" && !row.endsWith(" HEAD")),
);

describe("what each caller may", () => {
  for (const [row, action] of tested) {
    const [path = "", method = ""] = row.split(" ");
    test(`${row}: ${action}`, async () => {
      const ofAnybody = expectedOfAnybody[action];
      if (ofAnybody !== undefined) {
        const go = method === "OPTIONS" && action === "anybody" ? { go: 204 } : {};
        for (const sent of sentTo[path]?.(method, "shut", "ada") ?? [])
          await compare({ ...sent, ...go }, ofAnybody);
      } else if (action !== "each operation" && action !== "each selected resource")
        for (const each of cases) {
          const should = expectedOf(path, method, action as Action, each);
          for (const sent of sentTo[path]?.(method, each.name, each.authorId) ?? [])
            await compareAs(each.caller, sent, should);
        }
    });
  }

  test("each operation of a batch", async () => {
    for (const { name, authorId, caller } of cases)
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const { content: body, headers = {} } = contentFor(method, authorId);
        const path = method === "POST" ? `/${name}` : `/${name}/of-${authorId}`;
        const content = {
          operations: [{ method, path, headers, ...(body === undefined ? {} : { body }) }],
        };
        const action = ({ POST: "create", DELETE: "delete" } as const)[method] ?? "update";
        const sent = { method: "POST", path: `${prefix}/_batch`, content, go: method === "POST" ? 200 : 412 };
        const alone = expected(name, [action], caller, authorId);
        await compareAs(caller, sent, alone === 404 ? (400 as Expected) : alone);
      }
  });

  test("each selected resource of a bulk change: its number is that of the caller's list", async () => {
    const path = (name: string) => `${prefix}/${name}/_bulk`;
    for (const [action, content] of [
      ["update", { patch: { title: "x" } }],
      ["delete", { delete: true }],
    ] as const)
      for (const { name, caller } of listCases) {
        // All callers know these ids. Other tests create further resources.
        const filter = { id: { in: unreferenced.map(({ id }) => id) } };
        const sent = { filter, ...content, max: 1_000, dryRun: true };
        const request = { method: "POST", path: path(name), content: sent };
        const answer = await sendAs(service, caller, request);
        const told = answer.json as { matched?: number; resource?: string };
        const what = `${caller} ${action} ${name}: ${answer.text}`;
        const both = [expected(name, ["list"], caller), expected(name, [action], caller)] as const;
        const refused = both.find((each) => each !== "go");
        if (refused !== undefined) {
          assert.deepEqual([answer.status, told.resource], [refused, undefined], what);
          continue;
        }
        const known = knownAs(caller);
        const listed = owners.filter((authorId) => may(name, "list", known, authorId));
        const forbidden = listed.find((authorId) => !may(name, action, known, authorId));
        if (forbidden === undefined) {
          const { matched, ...rest } = answer.json as Record<string, unknown>;
          const ids = listed.map((authorId) => `alone-${authorId}`);
          assert.deepEqual([answer.status, matched], [200, listed.length], what);
          assert.deepEqual(rest, { changed: listed.length, dryRun: true, ids }, what);
        } else {
          const resource = `${prefix}/${name}/alone-${forbidden}`;
          assert.deepEqual([answer.status, told.resource], [known === undefined ? 401 : 403, resource], what);
        }
        // A request that matches at least the caller's list, and a request that returns the number.
        const one = await sendAs(service, caller, { ...request, content: { ...sent, max: 1 } });
        if (listed.length > 1) {
          assert.equal(outcome(one), "409 TOO_MANY_MATCHES", what);
          assert.equal((one.json as { matched: number }).matched, listed.length, what);
        } else assert.equal(one.status, answer.status, what);
      }
  });

  test("each selected resource of a restore of many: all of them, or the first that is refused", async () => {
    for (const { name, caller } of listCases) {
      const content = { filter: { authorId: "nobody" }, max: 1, dryRun: true };
      const path = `${prefix}/${name}/_deleted/_restore`;
      const all = (["list", "delete", "create"] as const).map((each) => expected(name, [each], caller));
      const should = all.find((each) => each !== "go") ?? "go";
      await compareAs(caller, { method: "POST", path, content, go: 200 }, should);
    }
  });

  test("the answers to questions about access", async () => {
    const ask = async (caller: Caller | undefined, content: object) => {
      const answer = await sendAs(service, caller, { method: "POST", path: `${prefix}/_access`, content });
      assert.equal(answer.status, 200, answer.text);
      return answer.json as { allowed: boolean; id?: string };
    };
    for (const { name, caller } of listCases.filter((each) => !isRefused(each.caller)))
      for (const operation of actions) {
        const what = `${caller} ${operation} ${name}`;
        const any = await ask(caller, { collection: name, operation });
        assert.equal(any.allowed, expected(name, [operation], caller) === "go", what);
        if (operation === "create") continue;
        const absent = await ask(caller, { collection: name, operation, id: "none" });
        assert.equal(absent.allowed, false, what);
        for (const authorId of owners) {
          const id = `of-${authorId}`;
          const one = await ask(caller, { collection: name, operation, id });
          const known = knownAs(caller);
          const isAllowed: boolean = expected(name, [operation], caller, authorId) === "go";
          const isListed: boolean = operation !== "list" || may(name, "list", known, authorId);
          assert.equal(one.allowed, isAllowed && isListed, `${what} ${id}`);
          // A resource that the caller cannot see gets the same answer as one that does not exist.
          if (!may(name, "read", known, authorId)) assert.deepEqual({ ...one, id: "none" }, absent, what);
        }
      }
  });

  test("the collections of a feed", async () => {
    for (const caller of who.filter((each) => !isRefused(each))) {
      const { json } = await sendAs(service, caller, { path: `${prefix}/_events?limit=1000` });
      const seen = new Set(
        (json as { source: string }[]).map(({ source }) => source.slice(prefix.length + 1)),
      );
      const shown = names.filter((name) =>
        owners.some(
          (authorId) =>
            expected(name, ["list"], caller) === "go" && may(name, "list", knownAs(caller), authorId),
        ),
      );
      assert.deepEqual([...seen].sort(), shown.sort(), caller ?? "anybody");
    }
  });

  test("a named collection of a feed", async () => {
    for (const { name, caller } of listCases) {
      const alone = expected(name, ["list"], caller);
      const should = alone === "go" ? expected("world", ["list"], caller) : alone;
      const path = `${prefix}/_events?collection=world,${name}`;
      await compareAs(caller, { method: "GET", path, go: 200 }, should);
    }
  });

  test("the resources of a list", async () => {
    for (const { name, caller } of listCases) {
      if (expected(name, ["list"], caller) !== "go") continue;
      const known = knownAs(caller);
      const readable = owners.filter((authorId) => may(name, "list", known, authorId));
      for (const query of [
        "limit=1000",
        "limit=1000&sort=-authorId",
        "id=of-ada&id=of-bob",
        "_start=0&_end=1000",
      ]) {
        const { json } = await sendAs(service, caller, { path: `${prefix}/${name}?${query}` });
        const listed = json as { id: string; authorId: string }[];
        const found = listed.filter(({ id }) => id.startsWith("of-")).map(({ authorId }) => authorId);
        assert.deepEqual(found.sort(), [...readable], `${caller} ${name}${query}`);
        assert.ok(listed.every(({ authorId }) => readable.includes(authorId as "ada" | "bob")));
      }
    }
  });
});
