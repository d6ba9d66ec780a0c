import assert from "node:assert/strict";
import { test } from "node:test";
import { defineConfig } from "../../src/index.ts";
import { machineTime } from "../until.ts";
import { startInMemoryFor } from "./service.ts";

const config = defineConfig({
  collections: {
    offers: {
      schema: {
        type: "object",
        properties: {
          name: { type: "string", maxLength: 100 },
          ends: { type: "string", format: "date-time" },
        },
      },
      expires: "ends",
      defaults: { ends: "$now+1d" },
      timestamps: true,
      unique: ["name"],
      hooks: { validate: ({ now }) => assert.equal(new Date(now).toISOString().slice(0, 10), "2026-02-01") },
    },
  },
});

const dayMs = 24 * 60 * 60 * 1_000;

test("the clock stands still until a test moves it, and resources expire by it", async (t) => {
  const service = await startInMemoryFor(t, config, { now: new Date("2026-02-01T12:00:00Z") });
  const { offers } = service.client();
  const made = await offers.create({ name: "first" });
  assert.equal(made.createdAt, "2026-02-01T12:00:00.000Z");
  assert.equal(made.ends, "2026-02-02T12:00:00.000Z");
  await service.advance(dayMs - 1);
  assert.equal((await offers.get(made.id)).name, "first");
  await service.advance(1);
  await assert.rejects(offers.get(made.id), { status: 404 });
  const history = await service.fetch(`/api/v1/offers/${made.id}/_changes`);
  const [last] = (await history.json()) as { kind: string; at: string }[];
  assert.deepEqual([last?.kind, last?.at], ["deleted", "2026-02-02T12:00:00.000Z"]);
});

test("without a time, the clock is that of the machine", async (t) => {
  const service = await startInMemoryFor(t, { collections: { notes: { timestamps: true } } });
  const before = machineTime();
  const { createdAt: at } = await service.client().notes.create({});
  assert.ok(Date.parse(String(at)) >= before && Date.parse(String(at)) <= machineTime());
  await service.advance(dayMs);
  const later = await service.client().notes.create({});
  assert.ok(Date.parse(String(later.createdAt)) >= before + dayMs);
  await assert.rejects(service.advance(-1), RangeError);
});
