/** The job of the example digest, without a mail service. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Job } from "../../src/index.ts";
import { importUserModule } from "../../src/user-module.ts";
import { startInMemoryFor } from "../testing/service.ts";

/** The configuration, as far as the test uses it. */
interface Digest {
  collections: Record<"articles" | "subscribers" | "mails", object>;
  jobs: { digest: Job };
}

const monday = Date.UTC(2026, 1, 2, 6); // 7:00 in Oslo
const dayMs = 24 * 60 * 60 * 1000;

test("each subscriber gets one mail with the articles of the week before the time of the job", async (t) => {
  const { default: config } = await importUserModule(resolve("examples/digest/holdfast.config.ts"));
  const service = await startInMemoryFor(t, config as Digest, { now: monday - 8 * dayMs });
  const { articles, subscribers, mails } = service.client();
  await service.runJob("digest");
  await articles.create({ title: "Last week" });
  await service.advance(3 * dayMs);
  for (const title of ["Salt", "Sea"]) await articles.create({ title });
  for (const email of ["ada@example.org", "bob@example.org"]) await subscribers.create({ email });
  assert.deepEqual(await mails.list({}).all(), []);
  for (let n = 0; n < 2; n++) await service.runJob("digest", monday);
  const made = await mails.list({ sort: "to" }).all();
  assert.deepEqual(
    made.map(({ to, subject, text }) => ({ to, subject, text })),
    ["ada@example.org", "bob@example.org"].map((to) => ({ to, subject: "New: 2", text: "- Salt\n- Sea" })),
  );
});
