/**
 * Random updates, batches of updates and bulk changes: each has the effect, and the response, of a reading in memory.
 * `npm run prove changes` has more of them. HOLDFAST_TEST_SEED repeats a run.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { seed } from "../seed.ts";
import { type Attributes, type Filter, merged, type Update, updated, valueAt } from "./changes-oracle.ts";
import { type Answer, type Service, startService } from "./service.ts";

const runs = Number(process.env.HOLDFAST_TEST_RUNS ?? 40);

let service: Service;
before(async () => {
  const properties = {
    a: { type: "integer", maximum: 50 },
    code: { type: "string", maxLength: 9 },
    b: {},
    c: {},
  };
  service = await startService({
    collections: { loose: {}, strict: { schema: { type: "object", properties }, unique: ["code"] } },
  });
});
after(() => service.stop());

const name = fc.constantFrom("a", "a", "b", "c");
const path = fc.oneof({ weight: 3, arbitrary: name }, fc.constantFrom("a.x", "b.x", "b.y", "b.x.z", "c.x"));
const scalar = fc.constantFrom<unknown>(0, 1, 2, 5, -1, 0.5, 49, 2 ** 53 - 1, "", "x", "1", true, null);
const flat = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
const object = fc.dictionary(fc.constantFrom("x", "y"), flat, { maxKeys: 2, noNullPrototype: true });
const value = fc.oneof(
  { weight: 5, arbitrary: scalar },
  fc.array(fc.oneof(scalar, object), { maxLength: 3 }),
  object,
);
const items = fc.array(fc.oneof(scalar, object), { maxLength: 3 });

const operator: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, -1, 0.5, 0, 2 ** 53 - 1, 1e-300).map((n) => ({ $increment: n })),
  },
  fc.constantFrom(0, 3, -3).map((n) => ({ $min: n })),
  fc.constantFrom(0, 3, 60).map((n) => ({ $max: n })),
  items.map((each) => ({ $append: each })),
  items.map((each) => ({ $addUnique: each })),
  items.map((each) => ({ $remove: each })),
  { weight: 3, arbitrary: value.map((each) => ({ $set: each })) },
  { weight: 2, arbitrary: fc.constant({ $unset: true }) },
  { weight: 1, arbitrary: fc.constantFrom({ $min: 0, $max: 9 }, { $append: 1 }, { $unset: false }) },
);
const update: fc.Arbitrary<Update> = fc.dictionary(path, operator, { maxKeys: 3, noNullPrototype: true });
const patch = fc.dictionary(name, value, { maxKeys: 2, noNullPrototype: true });

/** Filters that both collections take: "a" is an integer in one of them. */
const filtered = fc.constantFrom("b", "c", "b.x", "b.y", "c.x");
const equals = fc
  .oneof(
    fc.tuple(fc.constant("a"), fc.constantFrom<unknown>(0, 1, 2)),
    fc.tuple(filtered, fc.constantFrom<unknown>(0, 1, 2, "x", true)),
  )
  .map(
    ([at, wanted]): Filter => ({
      json: { [at]: wanted },
      matches: (_, attributes) => valueAt(attributes, at) === wanted,
    }),
  );
const atLeast = fc.tuple(fc.oneof(fc.constant("a"), filtered), fc.constantFrom(0, 1, 5)).map(
  ([at, least]): Filter => ({
    json: { [at]: { gte: least } },
    matches: (_, attributes) => {
      const found = valueAt(attributes, at);
      return typeof found === "number" && found >= least;
    },
  }),
);
const simple = fc.oneof(equals, atLeast);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  simple,
  simple.map(({ json, matches }) => ({
    json: { not: json },
    matches: (id: string, of: Attributes) => !matches(id, of),
  })),
  fc.tuple(simple, simple).map(([one, other]) => ({
    json: { or: [one.json, other.json] },
    matches: (id: string, of: Attributes) => one.matches(id, of) || other.matches(id, of),
  })),
);

type Action = { update: Update } | { patch: Attributes } | { delete: true };
type Step =
  | { kind: "update"; target: number; update: Update }
  | { kind: "batch"; of: readonly { target: number; update: Update }[] }
  | { kind: "bulk"; filter: Filter | undefined; action: Action; max: number; dryRun: boolean };

const bulk = fc.record({
  kind: fc.constant("bulk" as const),
  filter: fc.option(filter, { nil: undefined }),
  action: fc.oneof<fc.MaybeWeightedArbitrary<Action>[]>(
    { weight: 5, arbitrary: update.map((each) => ({ update: each })) },
    { weight: 4, arbitrary: patch.map((each) => ({ patch: each })) },
    { weight: 1, arbitrary: fc.constant({ delete: true as const }) },
  ),
  max: fc.constantFrom(9, 9, 9, 9, 2, 1),
  dryRun: fc.constantFrom(false, false, true),
});
const target = fc.nat(5);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("update" as const), target, update }) },
    {
      // Many batches are refused as a whole. Enough of them must be possible with every seed.
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("batch" as const),
        of: fc.oneof(
          fc.tuple(fc.record({ target, update })),
          fc.array(fc.record({ target, update }), { minLength: 2, maxLength: 3 }),
        ),
      }),
    },
    { weight: 4, arbitrary: bulk },
  ),
  { minLength: 4, maxLength: 10 },
);

const right: Update = { b: { $increment: 1 } };
const wrong: Update = { b: { $min: 0, $max: 9 } };
const all = { kind: "bulk", filter: undefined, dryRun: false } as const;

/** Steps on two resources: one for each outcome that the last test looks for. */
const everyOutcome: readonly Step[] = [
  ...[right, wrong].flatMap((each): Step[] => [
    { kind: "update", target: 0, update: each },
    { kind: "batch", of: [{ target: 0, update: each }] },
    { ...all, action: { update: each }, max: 2 },
  ]),
  { ...all, action: { update: right }, max: 1 },
];

/** Enough of them for the last test with every seed. */
const example: [Attributes[], Step[]] = [[{ b: 0 }, { b: 0 }], [1, 2, 3].flatMap(() => everyOutcome)];

interface Kept {
  version: number;
  attributes: Attributes;
}

/** The resources by id, in the order of their ids. */
type Model = Map<string, Kept>;

const type = "application/vnd.holdfast.update+json";
const counts = new Map<string, number>();

/** Compares a response with the expected one, and counts each kind. */
function expect(what: string, { status, json, text }: Answer, should: Record<string, unknown>): void {
  const told = { status, ...(typeof json === "object" ? (json as object) : {}) } as Record<string, unknown>;
  for (const [member, expected] of Object.entries(should))
    assert.deepEqual(told[member], expected, `${what}: ${member} in ${text}`);
  counts.set(`${what} ${status}`, (counts.get(`${what} ${status}`) ?? 0) + 1);
}

/** The result of a change: the next attributes, or the status and code of the refusal. */
function outcomeOf(collection: string, next: Attributes | undefined): Attributes | [number, string] {
  if (next === undefined) return [400, "INVALID_PATCH"];
  if (collection === "loose") return next;
  const { a = 0 } = next;
  return Number.isInteger(a) && (a as number) <= 50 ? next : [400, "VALIDATION_FAILED"];
}

async function runUpdate(collection: string, model: Model, step: Step & { kind: "update" }): Promise<void> {
  const id = [...model.keys()][step.target % Math.max(1, model.size)];
  if (id === undefined) return;
  const kept = model.get(id) as Kept;
  const answer = await service.send({
    method: "PATCH",
    path: `/api/v1/${collection}/${id}`,
    headers: { "Content-Type": type },
    content: step.update,
  });
  const outcome = outcomeOf(collection, updated(kept.attributes, step.update));
  if (Array.isArray(outcome)) return expect("update", answer, { status: outcome[0], code: outcome[1] });
  keep(model, id, outcome);
  const { version } = model.get(id) as Kept;
  expect("update", answer, { status: 200, id, ...outcome });
  assert.equal(answer.headers.etag, `"${version}"`);
}

async function runBatch(collection: string, model: Model, step: Step & { kind: "batch" }): Promise<void> {
  if (model.size === 0) return;
  const ids = [...model.keys()];
  const next: Model = new Map([...model].map(([id, kept]) => [id, { ...kept }]));
  let refusal: Record<string, unknown> | undefined;
  const operations = step.of.map(({ target: place, update: body }, operation) => {
    const id = ids[place % ids.length] as string;
    const outcome = outcomeOf(collection, updated((next.get(id) as Kept).attributes, body));
    if (Array.isArray(outcome)) refusal ??= { status: outcome[0], code: outcome[1], operation };
    else (next.get(id) as Kept).attributes = outcome;
    return { method: "PATCH", path: `/${collection}/${id}`, headers: { "Content-Type": type }, body };
  });
  const answer = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  expect("batch", answer, refusal ?? { status: 200 });
  if (refusal !== undefined) return;
  for (const [id, { attributes }] of next) keepAfterBatch(model, id, attributes, step, ids);
}

/** A batch makes one new version of a resource that one of its operations has changed, even if the last one is as the first. */
function keepAfterBatch(
  model: Model,
  id: string,
  attributes: Attributes,
  { of }: Step & { kind: "batch" },
  ids: readonly string[],
): void {
  const kept = model.get(id) as Kept;
  let state = kept.attributes;
  let isChanged = false;
  for (const { target: place, update: each } of of) {
    if (ids[place % ids.length] !== id) continue;
    const next = updated(state, each) as Attributes;
    isChanged ||= JSON.stringify(next) !== JSON.stringify(state);
    state = next;
  }
  model.set(id, { attributes, version: kept.version + (isChanged ? 1 : 0) });
}

function keep(model: Model, id: string, attributes: Attributes): boolean {
  const kept = model.get(id) as Kept;
  const isChanged = JSON.stringify(attributes) !== JSON.stringify(kept.attributes);
  if (isChanged) model.set(id, { attributes, version: kept.version + 1 });
  return isChanged;
}

async function runBulk(collection: string, model: Model, step: Step & { kind: "bulk" }): Promise<void> {
  const { filter: wanted, action, max, dryRun } = step;
  const selection = wanted === undefined ? { all: true } : { filter: wanted.json };
  const answer = await service.send({
    method: "POST",
    path: `/api/v1/${collection}/_bulk`,
    content: { ...selection, ...action, max, dryRun },
  });
  const refused = (should: Record<string, unknown>) => expect("bulk", answer, should);
  if ("update" in action && !isWellFormed(action.update))
    return refused({ status: 400, code: "INVALID_PATCH", resource: undefined });
  const matched = [...model].filter(([id, { attributes }]) => wanted?.matches(id, attributes) ?? true);
  if (matched.length > max)
    return refused({ status: 409, code: "TOO_MANY_MATCHES", matched: matched.length });
  const next: Model = new Map(model);
  const ids: string[] = [];
  for (const [id, { attributes }] of matched) {
    if ("delete" in action) {
      next.delete(id);
      ids.push(id);
      continue;
    }
    const made =
      "update" in action
        ? updated(attributes, action.update)
        : (merged(attributes, action.patch) as Attributes);
    const outcome = outcomeOf(collection, made);
    const resource = `/api/v1/${collection}/${id}`;
    if (Array.isArray(outcome)) return refused({ status: outcome[0], code: outcome[1], resource });
    if (keep(next, id, outcome)) ids.push(id);
  }
  expect("bulk", answer, { status: 200, matched: matched.length, changed: ids.length, dryRun, ids });
  if (dryRun) return;
  model.clear();
  for (const [id, kept] of next) model.set(id, kept);
}

/** Whether the fault of an update, if it has one, depends on the resource. */
function isWellFormed(each: Update): boolean {
  const paths = Object.keys(each);
  if (paths.some((one) => paths.some((other) => other.startsWith(`${one}.`)))) return false;
  return Object.values(each).every((change) => {
    const [[operator, operand] = ["", undefined], ...more] = Object.entries(change);
    const isArray = !["$append", "$addUnique", "$remove"].includes(operator) || Array.isArray(operand);
    return more.length === 0 && isArray && (operator !== "$unset" || operand === true);
  });
}

async function requireEqual(collection: string, model: Model): Promise<void> {
  const { json } = await service.send({ path: `/api/v1/${collection}?limit=100` });
  const expected = [...model].map(([id, { attributes }]) => ({ id, ...attributes }));
  assert.deepEqual(json, expected, collection);
  assert.equal(JSON.stringify(json), JSON.stringify(expected), "also the order of members");
}

for (const collection of ["loose", "strict"])
  test(`random changes of ${collection} resources are as a reading in memory says (seed ${seed})`, async () => {
    const first = fc.record(
      { a: fc.constantFrom<unknown>(0, 1, 5, 49), b: value, c: value },
      { requiredKeys: [], noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(first, { minLength: 1, maxLength: 6 }), steps, async (resources, all) => {
        const path = `/api/v1/${collection}`;
        const content = { all: true, delete: true, max: 100 };
        await service.send({ method: "POST", path: `${path}/_bulk`, content });
        const model: Model = new Map();
        for (const attributes of resources) {
          const { id } = await service.create(collection, attributes);
          model.set(id, { version: 1, attributes });
        }
        for (const step of all) {
          if (step.kind === "update") await runUpdate(collection, model, step);
          else if (step.kind === "batch") await runBatch(collection, model, step);
          else await runBulk(collection, model, step);
          await requireEqual(collection, model);
        }
        for (const [id, { version }] of model)
          assert.equal((await service.send({ path: `${path}/${id}` })).headers.etag, `"${version}"`);
      }),
      { numRuns: runs + 1, seed, examples: [example] },
    );
  });

test("the random changes were of every kind", (t) => {
  t.diagnostic(JSON.stringify(Object.fromEntries([...counts].sort())));
  for (const kind of [
    "update 200",
    "update 400",
    "batch 200",
    "batch 400",
    "bulk 200",
    "bulk 400",
    "bulk 409",
  ])
    assert.ok((counts.get(kind) ?? 0) > 5, kind);
});
