/** Whatever is wrong with a configuration together, each thing is reported once, and nothing that follows from another. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { loadConfig } from "../../src/config.ts";
import { StartError } from "../../src/errors.ts";
import { defineConfig } from "../../src/index.ts";
import { createPair } from "../access/issuer.ts";
import { makeFolder } from "../folder.ts";
import { seed } from "../seed.ts";

const text = { type: "string", maxLength: 100 } as const;

const sound = defineConfig({
  port: 3000,
  collections: {
    articles: {
      id: "uuid",
      schema: {
        type: "object",
        required: ["title"],
        properties: {
          title: text,
          slug: text,
          status: { enum: ["draft", "published"] },
          authorId: { type: "string" },
          views: { type: "integer", minimum: 0 },
          secret: { type: "string" },
        },
      },
      indexes: ["status", ["-views", "title"]],
      search: ["title"],
      unique: ["slug"],
      references: { authorId: "users" },
      requirePreconditions: false,
      defaults: { status: "draft", authorId: "$subject" },
      timestamps: true,
      attributes: { secret: { roles: ["hr"] }, views: { readOnly: true } },
      access: {
        read: ["authenticated", { where: { status: "published" } }],
        update: { role: "editor", where: { authorId: "$subject" } },
        delete: "nobody",
      },
    },
    users: {
      schema: { type: "object", properties: { name: text, teamId: { type: "string" } } },
      references: { teamId: { collection: "teams", onDelete: "clear" } },
      access: { read: { role: "editor" } },
    },
    teams: { id: "integer" },
  },
  auth: {
    keys: true,
    jwt: {
      issuer: "https://id.example.org/",
      audience: "articles",
      jwks: { keys: [createPair("ES256").jwk] },
      algorithms: ["ES256"],
      rolesClaim: "groups",
    },
  },
  cors: { origins: ["https://app.example.org"] },
  history: { keepDays: 7 },
  limits: { body: "2mb", page: 100, rate: { requests: 10, perSeconds: 1 } },
  trustProxy: ["10.0.0.1"],
  requireTls: true,
});

/** One way to break the configuration. */
interface Breaker {
  /** The member that is broken or added. */
  path: readonly string[];
  value: unknown;
  /** How the fault names the place. */
  place: string;
  /** Places that cannot be judged any more. */
  hides: readonly string[];
}

const breaker = (path: string, value: unknown, place = path, ...hides: string[]): Breaker => ({
  path: path.split("."),
  value,
  place,
  hides,
});

const articles = "collections.articles";
/** Parts of a collection that are judged by its schema. */
const bySchema = (at: string) => [
  `${at}.indexes`,
  `${at}.search`,
  `${at}.unique`,
  `${at}.references`,
  `${at}.defaults.status`,
  `${at}.attributes.secrets`,
  `${at}.access.read[1]:`,
];

const breakers: readonly Breaker[] = [
  breaker("port", 70_000),
  breaker("prot", 3000),
  breaker(`${articles}.id`, "uid"),
  breaker(`${articles}.schema.type`, "objekt", `${articles}.schema at type`, ...bySchema(articles)),
  breaker(
    `${articles}.schema.properties.title.minLenght`,
    1,
    `${articles}.schema at properties/title: `,
    ...bySchema(articles),
  ),
  breaker(
    `${articles}.schema.properties.status.format`,
    "emial",
    `${articles}.schema at properties/status/format`,
    ...bySchema(articles),
  ),
  breaker(
    `${articles}.schema.properties.views.minimum`,
    "0",
    `${articles}.schema at properties/views/minimum`,
    ...bySchema(articles),
  ),
  breaker(
    `${articles}.schema.properties.authorId.$ref`,
    "#/$defs/no",
    `${articles}.schema at properties/authorId/$ref`,
    ...bySchema(articles),
  ),
  breaker(`${articles}.indexes.0`, "statu", `${articles}.indexes[0]`),
  breaker(`${articles}.indexes.1.1`, "titel", `${articles}.indexes[1]`),
  breaker(`${articles}.search.0`, "views", `${articles}.search[0]`),
  breaker(`${articles}.unique.0`, { attribute: "status" }, `${articles}.unique[0]`),
  breaker(`${articles}.references.authorId`, "user"),
  breaker(`${articles}.requirePreconditions`, "yes"),
  breaker(`${articles}.defaults.status`, "daft"),
  breaker(`${articles}.defaults.id`, "1"),
  breaker(
    `${articles}.timestamps`,
    1,
    undefined,
    ...bySchema(articles).filter((place) => !place.includes("defaults")),
  ),
  breaker(`${articles}.attributes.secret.roles`, "hr"),
  breaker(`${articles}.attributes.views.readOnly`, 1),
  breaker(`${articles}.attributes.secrets`, { readOnly: true }),
  breaker(`${articles}.access.read.0`, "autenticated", `${articles}.access.read[0]`),
  breaker(`${articles}.access.read.1.where.sttus`, "published", `${articles}.access.read[1]:`),
  breaker(`${articles}.access.update.role`, 7),
  breaker(`${articles}.access.delete`, []),
  breaker(`${articles}.access.udpate`, "public"),
  breaker(`${articles}.shema`, {}),
  breaker("collections.users.references.teamId.onDelete", "clean", "collections.users.references.teamId"),
  breaker("collections.users.access.read.rol", "x"),
  breaker("collections.teams.id", null),
  breaker("collections.1a", {}, 'collections: "1a"'),
  breaker("auth.keys", "yes"),
  breaker("auth.jwt.issuer", ["a"]),
  breaker("auth.jwt.audiense", "a"),
  breaker("auth.jwt.algorithms", ["none"], undefined, "auth.jwt.jwks"),
  breaker("auth.jwt.jwks.keys", [], "auth.jwt.jwks"),
  breaker("auth.jwt.rolesClaim", 1),
  breaker("cors.origins.0", "app.example.org", "cors.origins"),
  breaker("history.keepDays", -1, "history"),
  breaker("limits.body", "2xb"),
  breaker("limits.pagee", 5),
  breaker("limits.rate.requests", 0, "limits.rate"),
  breaker("trustProxy.0", "proxy", "trustProxy"),
  breaker("requireTls", "on"),
  breaker("hsts", { includeSubdomains: true }),
];

type Members = Record<string, unknown>;

/** The configuration with values set at paths. */
function withValues(values: readonly (readonly [path: readonly string[], value: unknown])[]): unknown {
  const broken = JSON.parse(JSON.stringify(sound)) as Members;
  for (const [path, value] of values) {
    let holder = broken;
    for (const step of path.slice(0, -1)) holder = holder[step] as Members;
    holder[path.at(-1) as string] = value;
  }
  return broken;
}

/** The breakers whose faults must be reported, in the order in which the file has their places. */
function reported(chosen: readonly Breaker[]): Breaker[] {
  const hidden = new Set(chosen.flatMap(({ hides }) => hides));
  const isHidden = ({ place }: Breaker) => [...hidden].some((each) => place.startsWith(each));
  const marks = new Map(chosen.map((each, n) => [each, `mark ${n} of the property`]));
  const marked = JSON.stringify(withValues([...marks].map(([{ path }, mark]) => [path, mark])));
  const position = (each: Breaker) => marked.indexOf(JSON.stringify(marks.get(each)));
  return chosen.filter((each) => !isHidden(each)).toSorted((a, b) => position(a) - position(b));
}

async function faultsOf(content: unknown): Promise<string[]> {
  const cwd = makeFolder();
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  try {
    await loadConfig({ flags: {}, env: {}, cwd });
    return [];
  } catch (error) {
    assert.ok(error instanceof StartError, String((error as Error).stack));
    return error.faults.map(({ text: each }) => each);
  }
}

async function check(chosen: readonly Breaker[]): Promise<void> {
  const faults = await faultsOf(withValues(chosen.map(({ path, value }) => [path, value])));
  const expected = reported(chosen);
  const told = () => `${faults.join("\n")}\nexpected:\n${expected.map(({ place }) => place).join("\n")}`;
  assert.equal(faults.length, expected.length, told());
  for (const [n, { place }] of expected.entries())
    assert.ok(faults[n]?.startsWith(`holdfast.config.json: ${place}`), told());
}

test("the configuration has no faults before this test breaks it", async () => {
  assert.deepEqual(await faultsOf(sound), []);
});

test("a rule whose filter could name an attribute or a relation is refused", async () => {
  const users = { access: { read: "public" } };
  const articles = {
    references: { authorId: "users" },
    access: { read: { where: { "author.name": "Ada" } } },
  };
  const auth = { keys: true };
  assert.deepEqual(await faultsOf({ auth, collections: { users, articles } }), [
    'holdfast.config.json: collections.articles.access.read: "where" names "author.name", but "author" can be an attribute, because the schema allows others, or the relation of the reference "authorId". To follow the reference, set its "as" to "author".',
  ]);
});

for (const each of breakers) {
  test(`a single wrong ${each.path.join(".")} is one fault`, () => check([each]));
}

test(`each of several faults is reported at its place (HOLDFAST_TEST_SEED=${seed})`, async () => {
  const chosen = fc.shuffledSubarray([...breakers], { minLength: 2 });
  await fc.assert(fc.asyncProperty(chosen, check), { numRuns: 200, seed });
});
