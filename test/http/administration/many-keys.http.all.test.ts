/** The limit of the API keys that administrators make. Its own file, because it needs 1,000 keys. */
import { test } from "node:test";
import { addKey } from "../../../src/access/api-key.ts";
import { nextTurn } from "../../../src/http/admission/turns.ts";
import { openKeys } from "../../../src/store/open.ts";
import { auth, sendWith } from "../access/callers.ts";
import { check } from "../check.ts";
import { startFor } from "../service.ts";

const path = "/api/v1/_keys";
const ops = { sub: "olga", roles: ["ops"] };

test("a key made over HTTP is one of at most 1,000 valid ones", async (t) => {
  const own = await startFor(t, {
    auth: { ...auth, keys: true, administrators: [{ role: "ops" }] },
    collections: {},
  });
  const keys = await openKeys(own.store);
  for (let n = 0; n < 1_000; n++) {
    await nextTurn(); // so that this test does not block the service
    await addKey(
      keys,
      { name: `k${n}`, subject: "s", roles: [], scopes: undefined, expiresAt: undefined },
      n,
    );
  }
  const request = { method: "POST", path, content: { name: "more" } };
  check(await sendWith(own, ops, request), { status: 409, problem: "KEY_UNAVAILABLE" });
  const [first] = await keys.all();
  await keys.close();
  await sendWith(own, ops, { method: "POST", path: `${path}/${first?.prefix}/_revoke` });
  check(await sendWith(own, ops, request), { status: 201 });
});
