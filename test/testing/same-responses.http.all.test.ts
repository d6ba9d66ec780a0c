/** A service in memory gives the same responses as one with a store on the disk, threads and a socket. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { start } from "../../src/testing.ts";
import { importUserModule } from "../../src/user-module.ts";
import { makeFolder } from "../folder.ts";
import { startService } from "../http/service.ts";

const source = `
import { defineConfig, forbid, refuse } from ${JSON.stringify(pathToFileURL("src/index.ts").href)};

export default defineConfig({
  collections: {
    teams: {
      id: "integer",
      schema: { type: "object", properties: { name: { type: "string", maxLength: 20 } }, required: ["name"] },
      unique: ["name"],
      timestamps: true,
    },
    players: {
      id: "integer",
      schema: {
        type: "object",
        properties: {
          name: { type: "string", maxLength: 20 },
          teamId: { type: "integer" },
          goals: { type: "integer", minimum: 0 },
        },
        required: ["name"],
        additionalProperties: false,
      },
      references: { teamId: { collection: "teams", onDelete: "cascade" } },
      indexes: [["goals"]],
      search: ["name"],
      hooks: {
        before: ({ resource }) => ({ goals: 0, ...resource, name: resource.name.trim() }),
        validate: ({ operation, resource, previous }) => {
          if (resource.name === "") refuse("name", "must not be empty");
          if (previous !== undefined && operation !== "delete" && resource.goals < previous.goals) forbid("Goals stay.");
        },
      },
    },
  },
});
`;

interface Sent {
  method: string;
  path: string;
  content?: unknown;
  headers?: Record<string, string>;
}

const id = fc.integer({ min: 1, max: 5 });
const name = fc.constantFrom("Ada", " Bob ", "Eve", "Zoé", "  ");
const team = fc.record({ name }, { requiredKeys: [] });
const player = fc.record(
  { name, teamId: id, goals: fc.integer({ min: -1, max: 4 }) },
  { requiredKeys: ["name"] },
);
const query = fc.constantFrom(
  "",
  "?sort=-goals,name&limit=2",
  "?goals:gte=1&count=exact",
  "?q=a",
  "?name:containsi=z&fields=name",
  "?embed=team&sort=team.name",
  "?aggregate=count,sum(goals)&group=teamId",
  "?team.name=Ada",
  "?nothing=1",
);
const preconditions = fc.constantFrom({}, { "if-match": '"1"' }, { "if-none-match": "*" });
const write = fc.oneof(
  fc.record({ method: fc.constant("POST"), path: fc.constant("/players"), content: player }),
  fc.record({ method: fc.constant("POST"), path: fc.constant("/teams"), content: team }),
  fc.record({
    method: fc.constant("PUT"),
    path: id.map((n) => `/players/${n}`),
    content: player,
    headers: preconditions,
  }),
  fc.record({
    method: fc.constant("PATCH"),
    path: id.map((n) => `/players/${n}`),
    content: player,
    headers: preconditions,
  }),
  fc.record({ method: fc.constant("PATCH"), path: id.map((n) => `/teams/${n}`), content: team }),
  fc.record({ method: fc.constant("DELETE"), path: id.map((n) => `/teams/${n}`), headers: preconditions }),
  fc.record({ method: fc.constant("DELETE"), path: id.map((n) => `/players/${n}`) }),
  fc.record({
    method: fc.constant("POST"),
    path: fc.constant("/_batch"),
    content: fc.record({
      operations: fc.array(
        fc.oneof(
          fc.record({ method: fc.constant("POST"), path: fc.constant("/teams"), body: team }),
          fc.record({ method: fc.constant("POST"), path: fc.constant("/players"), body: player }),
          fc.record({ method: fc.constant("DELETE"), path: id.map((n) => `/players/${n}`) }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  }),
  fc.record({
    method: fc.constant("POST"),
    path: fc.constant("/players/_import"),
    content: fc.array(player, { maxLength: 4 }),
  }),
);
const read = fc.oneof(
  query.map((text) => ({ method: "GET", path: `/players${text}` })),
  id.map((n) => ({ method: "GET", path: `/players/${n}` })),
  id.map((n) => ({ method: "GET", path: `/players/${n}/_changes` })),
  id.map((n) => ({ method: "GET", path: `/teams/${n}/players?sort=name` })),
  fc.constant({ method: "GET", path: "/players/_deleted" }),
  fc.constant({ method: "OPTIONS", path: "/players" }),
  fc.constant({ method: "GET", path: "/nowhere" }),
);
const requests: fc.Arbitrary<Sent[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: write }, { weight: 2, arbitrary: read }),
  {
    minLength: 10,
    maxLength: 40,
  },
);

/** The headers that say something about the resource. The others name the request, or contain the secret of the store. */
const compared = ["allow", "content-type", "location", "accept-patch", "page-limit"];

function seen(status: number, headers: (name: string) => string | null | undefined, text: string) {
  const etag = headers("etag") ?? "";
  return {
    status,
    headers: Object.fromEntries(compared.map((each) => [each, headers(each) ?? undefined])),
    etag: etag === "" || /^"\d+"$/.test(etag) ? etag : "of a list",
    // Each request has an id of its own, each store its cursors and groups, and each import its times.
    text: text.replaceAll(
      /urn:uuid:[0-9a-f-]+|"(?:group|task)":"[^"]*"|"(?:at|deletedAt)":"[^"]*"|cursor=[^"&]*/g,
      "…",
    ),
  };
}

test("random requests get the same responses as from a service with a file, threads and a socket", async () => {
  const path = join(makeFolder({ "holdfast.config.mjs": source }), "holdfast.config.mjs");
  const { default: config } = await importUserModule(path);
  const at = Date.UTC(2026, 1, 1);
  const property = fc.asyncProperty(requests, async (all) => {
    const real = await startService({ module: source, now: () => at });
    const service = await start(config as object, { now: at });
    try {
      for (const { method, path, content, headers } of all) {
        const target = `/api/v1${path}`;
        const expected = await real.send({
          method,
          path: target,
          ...(content !== undefined && { content }),
          ...(headers && { headers }),
        });
        const found = await service.fetch(target, {
          method,
          headers: {
            ...(content !== undefined && { "content-type": "application/json; charset=utf-8" }),
            ...headers,
          },
          ...(content !== undefined && { body: JSON.stringify(content) }),
        });
        assert.deepEqual(
          seen(found.status, (each) => found.headers.get(each), await found.text()),
          seen(expected.status, (each) => expected.headers[each], expected.text),
          `${method} ${path} ${JSON.stringify(content)}`,
        );
      }
    } finally {
      await Promise.all([service.stop(), real.stop()]);
    }
  });
  await fc.assert(property, { numRuns: 12 });
});
