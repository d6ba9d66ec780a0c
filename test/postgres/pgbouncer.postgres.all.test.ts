/** The service behind PgBouncer in transaction mode: each transaction may have another connection to the database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseFor, query } from "./databases.ts";
import { startBouncer, whyNoBouncer } from "./pgbouncer.ts";
import { countOf, serveOn } from "./served.ts";

test("the service works through PgBouncer in transaction mode, and leaves no state in its connections", {
  skip: whyNoBouncer(),
}, async (t) => {
  const url = await databaseFor(t);
  const bouncer = await startBouncer(url, 4);
  t.after(() => bouncer.stop());
  const served = await Promise.all([serveOn(t, bouncer.url), serveOn(t, bouncer.url)]);
  const [first, second] = served;
  assert.equal((await first.ask("POST", "things", { n: 0 })).status, 201);
  const work = Array.from({ length: 60 }, async (_, n) => {
    const { ask } = served[n % 2] ?? first;
    const key = { "idempotency-key": `k${n}` };
    const made = await ask("POST", "things", { n }, key);
    assert.equal(made.status, 201, JSON.stringify(made.content));
    const { id } = made.content as { id: string };
    const path = `things/${id}`;
    const changed = await second.ask(
      "PUT",
      path,
      { id, n: n + 1 },
      { "if-match": String(made.headers.get("etag")) },
    );
    assert.equal(changed.status, 200, JSON.stringify(changed.content));
    assert.equal((await ask("GET", `things?n=${n + 1}&sort=-n`)).status, 200);
    assert.equal((await first.ask("GET", `${path}?version=1`)).status, 200);
    const again = await (served[(n + 1) % 2] ?? first).ask("POST", "things", { n }, key);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
  });
  await Promise.all(work);
  const operations = [1, 2].map((n) => ({ method: "POST", path: "/pairs", body: { n } }));
  assert.equal((await second.ask("POST", "_batch", { operations })).status, 200);
  assert.equal(await countOf(first, "things"), 61);
  assert.equal(await countOf(first, "pairs"), 2);
  // The next user of these connections finds them unchanged.
  for (let n = 0; n < 8; n++) {
    const { rows } = await query(
      bouncer.url,
      `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
         (select count(*)::int from pg_prepared_statements) as prepared,
         (select count(*)::int from pg_listening_channels()) as listening`,
    );
    assert.deepEqual({ ...rows[0] }, { statement: "0", lock: "0", prepared: 0, listening: 0 });
  }
});
