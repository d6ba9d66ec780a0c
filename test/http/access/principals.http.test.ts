/** Callers who may update a resource see who made its changes. The configuration can show it to all readers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { type ServiceOptions, startService } from "../service.ts";
import { auth, type Caller, createAs, sendAs } from "./callers.ts";

async function principalsFor(
  callers: readonly (Caller | undefined)[],
  { isDeleted = false, ...options }: Partial<ServiceOptions> & { isDeleted?: boolean },
): Promise<unknown[]> {
  const access = {
    read: "public",
    create: "authenticated",
    update: owner("authorId"),
    delete: owner("authorId"),
  } as const;
  const service = await startService({ auth, collections: { notes: { access } }, ...options });
  try {
    const { path } = await createAs(service, "ada", "notes", { authorId: "ada" });
    if (isDeleted) await sendAs(service, "ada", { method: "DELETE", path });
    const all: unknown[] = [];
    for (const who of callers) {
      const answer = await sendAs(service, who, { path: `${path}/_changes` });
      assert.equal(answer.status, 200, answer.text);
      const changes = answer.json as Record<string, unknown>[];
      const { principal } = changes.at(-1) ?? {};
      all.push("principal" in (changes.at(-1) ?? {}) ? principal : "left out");
    }
    return all;
  } finally {
    await service.stop();
  }
}

const everyone = [undefined, "bob", "ada", "eve"] as const;

for (const isDeleted of [false, true])
  test(`callers who may update a resource see who changed it${isDeleted ? ", also after its delete" : ""}`, async () => {
    assert.deepEqual(await principalsFor(everyone, { isDeleted }), [
      "left out",
      "left out",
      "ada",
      "left out",
    ]);
  });

test("with history.showPrincipal, everyone who may read sees it", async () => {
  assert.deepEqual(await principalsFor(everyone, { showPrincipal: true }), ["ada", "ada", "ada", "ada"]);
});
