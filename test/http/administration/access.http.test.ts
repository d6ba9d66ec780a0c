/** The answers of `_access`: to callers, and to administrators who ask for others. `access/matrix.test.ts` compares all rules. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { auth, sendWith } from "../access/callers.ts";
import { check } from "../check.ts";
import { type Answer, startFor, startServiceForFile } from "../service.ts";
import { refusesWithoutTlsAndTooOften } from "./refusals.ts";

const path = "/api/v1/_access";
const ops = { sub: "olga", roles: ["ops"] };
const ada = { sub: "ada" };

const service = await startServiceForFile({
  auth: { ...auth, administrators: [{ role: "ops" }] },
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: {
          authorId: { type: "string" },
          status: { enum: ["draft", "published"] },
          year: { type: "integer" },
          tenant: { type: "string" },
          pin: { type: "string", writeOnly: true },
          salary: { type: "integer" },
          slug: { type: "string", readOnly: true },
        },
      },
      timestamps: true,
      attributes: { salary: { roles: ["hr"] } },
      access: {
        read: [{ where: { status: "published" } }, owner("authorId"), { role: "editor" }],
        create: "authenticated",
        update: [
          { role: "editor", where: { year: { gte: 2020 }, not: { status: "published" } } },
          { where: { tenant: "$claims.tenant" } },
        ],
        delete: { where: { or: [{ pin: "1234" }, { year: { lt: 1900 } }] } },
      },
    },
    plain: {},
  },
  seeds: {
    articles: [
      { id: "draft", authorId: "ada", status: "draft", year: 2010, tenant: "t1", pin: "0000", salary: 5 },
      { id: "open", authorId: "bob", status: "published", year: 2024, pin: "1234" },
    ],
  },
});

async function ask(
  who: Record<string, unknown> | undefined,
  content: object,
): Promise<Record<string, unknown>> {
  const request = { method: "POST", path, content };
  const answer = who === undefined ? await service.send(request) : await sendWith(service, who, request);
  check(answer, { status: 200 });
  return answer.json as Record<string, unknown>;
}

const attributes = { readOnly: ["id", "createdAt", "updatedAt", "slug"], writeOnly: ["pin"] };

interface Explained {
  allowed: boolean;
  reason: string;
  exists?: boolean;
  checks: {
    needs: string;
    passes: boolean;
    reason: string;
    rules?: { reason: string; conditions?: unknown[] }[];
  }[];
}

const explain = async (as: unknown, content: object) =>
  (await ask(ops, { collection: "articles", ...content, as })) as unknown as Explained;

const reasonsOf = ({ checks }: Explained, needs: string) =>
  checks.find((each) => each.needs === needs)?.rules?.map(({ reason }) => reason);

describe("a caller learns", () => {
  test("whether something is allowed with a resource, and nothing about the rules", async () => {
    assert.deepEqual(await ask(ada, { collection: "articles", operation: "read", id: "open" }), {
      collection: "articles",
      operation: "read",
      id: "open",
      allowed: true,
      resources: "all",
      reason: "The rules allow this with this resource.",
      attributes,
    });
    const refused = await ask(ada, { collection: "articles", operation: "delete", id: "draft" });
    assert.deepEqual(
      [refused.allowed, refused.resources, refused.reason, refused.exists, refused.checks],
      [
        false,
        "none",
        "The rules allow this with other resources, but not with this one.",
        undefined,
        undefined,
      ],
    );
  });

  test("whether something is allowed with any resource", async () => {
    const answers = [
      [ada, "articles", "list", "some", "The rules allow this with some resources."],
      [ada, "plain", "list", "all", "The rules allow this with every resource."],
      [
        ada,
        "articles",
        "update",
        "none",
        "Your credential does not allow this. An administrator can see which rule says so.",
      ],
      [undefined, "articles", "create", "none", "The rules do not allow this without a credential."],
      [
        { ...ada, scope: "plain:read" },
        "plain",
        "update",
        "none",
        'The credential is limited to scopes, and does not have the scope "plain:write".',
      ],
    ] as const;
    for (const [who, collection, operation, resources, reason] of answers) {
      const answer = await ask(who, { collection, operation });
      assert.deepEqual(
        [answer.allowed, answer.resources, answer.reason],
        [resources !== "none", resources, reason],
      );
    }
  });

  test("the same about a hidden resource as about one that does not exist", async () => {
    const bob = { sub: "bob" };
    for (const operation of ["list", "read", "delete"]) {
      const hidden = await ask(bob, { collection: "articles", operation, id: "draft" });
      const absent = await ask(bob, { collection: "articles", operation, id: "absent" });
      assert.deepEqual({ ...hidden, id: "absent" }, absent);
      assert.equal(absent.reason, "No resource with this id exists for you.");
    }
  });

  test("nothing about `as`, which only administrators can use", async () => {
    const send = (name: string) =>
      sendWith(service, ada, {
        method: "POST",
        path,
        content: { collection: "plain", operation: "read", [name]: { roles: ["editor"] } },
      });
    const [as, other] = [await send("as"), await send("ax")];
    check(as, { status: 400, problem: "INVALID_PARAMETER" });
    const textOf = ({ text }: Answer) => text.replaceAll(/"urn:uuid:[^"]+"/g, "").replaceAll(/\bax\b/g, "as");
    assert.equal(textOf(as), textOf(other));
  });
});

describe("an administrator learns", () => {
  test("which alternative of a rule decides", async () => {
    const { allowed, checks } = await explain({ roles: ["editor"] }, { operation: "read", id: "draft" });
    assert.equal(allowed, true);
    assert.deepEqual(checks, [
      {
        needs: "rule",
        passes: true,
        reason: "The rules allow this with this resource.",
        rules: [
          {
            at: "collections.articles.access.read[0]",
            rule: { where: { status: "published" } },
            resources: "none",
            reason: '"status" must equal "published", but it is "draft".',
            conditions: [
              {
                attribute: "status",
                condition: "in",
                negated: false,
                values: ["published"],
                actual: "draft",
                isMet: false,
              },
            ],
          },
          {
            at: "collections.articles.access.read[1]",
            rule: { where: { authorId: "$subject" } },
            resources: "none",
            reason: 'The filter compares with "$subject", and the caller does not have this value.',
          },
          {
            at: "collections.articles.access.read[2]",
            rule: { role: "editor" },
            resources: "all",
            reason: 'The caller has the role "editor".',
          },
        ],
      },
    ]);
  });

  test("which condition is not met", async () => {
    const id = "open";
    const editor = await explain({ roles: ["editor"] }, { operation: "update", id });
    assert.deepEqual(reasonsOf(editor, "rule"), [
      'The caller has the role "editor". "status" must not equal "published", but it is "published".',
      'The filter compares with "$claims.tenant", and the caller does not have this value.',
    ]);
    const tenant = await explain({ claims: { tenant: "t2" } }, { operation: "update", id });
    assert.deepEqual(reasonsOf(tenant, "rule"), [
      'The caller does not have the role "editor".',
      '"tenant" must equal "t2", but it does not exist.',
    ]);
    const own = await explain({ subject: "bob", roles: ["editor"] }, { operation: "update", id: "draft" });
    assert.deepEqual(
      reasonsOf(own, "rule")?.[0],
      'The caller has the role "editor". "year" must be at least 2020, but it is 2010.',
    );
  });

  test("nothing about the value of a write-only attribute", async () => {
    const refused = await explain({ subject: "ada" }, { operation: "delete", id: "draft" });
    const [rule] = refused.checks.at(-1)?.rules ?? [];
    assert.equal(
      rule?.reason,
      'A condition about "pin" is not met, whose value is secret. "year" must be less than 1900, but it is 2010.',
    );
    assert.deepEqual(rule?.conditions?.[0], {
      attribute: "pin",
      condition: "in",
      negated: false,
      values: ["1234"],
    });
    assert.doesNotMatch(JSON.stringify(refused), /0000/);
  });

  test("whether a hidden resource exists, and the rules that hide it", async () => {
    const hidden = await explain({ subject: "bob" }, { operation: "delete", id: "draft" });
    assert.deepEqual([hidden.allowed, hidden.exists], [false, true]);
    assert.equal(hidden.reason, "No resource with this id exists for the caller.");
    assert.deepEqual(reasonsOf(hidden, "read"), [
      '"status" must equal "published", but it is "draft".',
      '"authorId" must equal "bob", but it is "ada".',
      'The caller does not have the role "editor".',
    ]);
    assert.equal((await explain({}, { operation: "delete", id: "absent" })).exists, false);
  });

  test("about scopes, callers without a credential, and rules of a collection without `access`", async () => {
    const scoped = await explain({ roles: ["editor"], scopes: ["articles:read"] }, { operation: "update" });
    assert.deepEqual(
      scoped.checks.map(({ needs, passes }) => [needs, passes]),
      [
        ["scope", false],
        ["rule", true],
      ],
    );
    const nameless = await explain(null, { operation: "create" });
    assert.deepEqual(reasonsOf(nameless, "rule"), ["The caller has no credential."]);
    const plain = (await ask(ops, { collection: "plain", operation: "list" })) as unknown as Explained;
    assert.deepEqual(plain.checks[0]?.rules, [
      { at: null, rule: "authenticated", resources: "all", reason: "The caller has a valid credential." },
    ]);
    assert.deepEqual(
      plain.checks.map(({ needs }) => needs),
      ["rule", "read"],
    );
  });

  test("the attributes that are restricted to other roles", async () => {
    const asked = { collection: "articles", operation: "read" };
    assert.deepEqual((await ask(ops, { ...asked, as: {} })).attributes, {
      ...attributes,
      restricted: ["salary"],
    });
    const hr = (await ask(ops, { ...asked, as: { roles: ["hr"] } })).attributes;
    assert.deepEqual(hr, { ...attributes, restricted: [] });
  });
});

test("without auth, everything is allowed, except writes to a read-only service", async (t) => {
  const own = await startFor(t, { collections: { a: {} }, seeds: { a: [{ id: "1" }] }, readOnly: true });
  const send = async (content: object) =>
    (await own.send({ method: "POST", path, content })).json as Record<string, unknown>;
  assert.equal((await send({ collection: "a", operation: "read", id: "1" })).allowed, true);
  assert.equal((await send({ collection: "a", operation: "read", id: "2" })).allowed, false);
  const write = await send({ collection: "a", operation: "update", id: "1" });
  assert.deepEqual([write.allowed, write.reason], [false, "The service is read-only."]);
});

test("a question that does not fit is refused", async (t) => {
  const contents = [
    {},
    { collection: "none", operation: "read" },
    { collection: "_webhooks", operation: "read" },
    { collection: "plain", operation: "restore" },
    { collection: "plain", operation: "create", id: "1" },
    { collection: "plain", operation: "read", id: 1.5 },
    { collection: "plain", operation: "read", id: "" },
    { collection: "plain", operation: "read", as: 1 },
    { collection: "plain", operation: "read", as: { role: "a" } },
    { collection: "plain", operation: "read", as: { roles: "a" } },
    { collection: "plain", operation: "read", as: { roles: Array(101).fill("a") } },
    { collection: "plain", operation: "read", as: { scopes: ["read"] } },
    { collection: "plain", operation: "read", as: { subject: 1, claims: [] } },
  ];
  for (const content of contents)
    check(await sendWith(service, ops, { method: "POST", path, content }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  const valid = { method: "POST", path, content: { collection: "plain", operation: "read" } };
  check(await service.send({ ...valid, path: `${path}?a=1` }), { status: 400 });
  check(await service.send({ ...valid, headers: { Accept: "image/png" } }), { status: 406 });
  check(await service.send({ ...valid, headers: { "Content-Type": "text/plain" } }), { status: 415 });
  check(await service.send({ ...valid, headers: { Authorization: "Bearer x" } }), { status: 401 });
  check(await service.send({ ...valid, content: { x: "x".repeat(1_100_000) } }), { status: 413 });
  check(await service.send({ path }), { status: 405, headers: { Allow: "POST, OPTIONS" } });
  check(await service.send({ method: "OPTIONS", path }), {
    status: 204,
    headers: { Allow: "POST, OPTIONS", "Accept-Post": "application/json" },
  });
  await refusesWithoutTlsAndTooOften(t, valid);
});
