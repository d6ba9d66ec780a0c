/** The functions, consumers and jobs of a configuration, by the typed client. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, NotFoundError } from "../../client/src/index.ts";
import { startFor } from "../http/service.ts";
import { until } from "../until.ts";

const module = `
const forever = () => new Promise(() => {});
export default {
  collections: { orders: { after: { mail: { run: ({ event }) => { if (event.data.n === 1) throw new Error("no luck"); } } } } },
  jobs: { digest: { cron: "0 7 * * 1", timezone: "Europe/Oslo", run: forever } },
};
`;

test("an administrator sees the code of a service, and changes what it does", async (t) => {
  const { origin, create } = await startFor(t, { module });
  const { $code, $consumers, $jobs } = createClient({ baseUrl: `${origin}/api/v1` });
  await create("orders", { n: 1 });
  await until("the delivery has failed", async () => (await $consumers.get("orders/mail")).retrying === 1);
  const [delivery] = await $consumers.deliveries("orders/mail", { limit: 10 });
  assert.deepEqual([delivery?.state, delivery?.attempts], ["retrying", 1]);
  const event = String(delivery?.event);
  assert.equal((await $consumers.retry("orders/mail", event)).event, event);
  await until(
    "it was tried again",
    async () => (await $consumers.deliveries("orders/mail"))[0]?.attempts === 2,
  );
  assert.equal((await $consumers.skip("orders/mail", event)).state, "dead");
  assert.equal((await $consumers.enable("orders/mail", false)).state, "disabled");
  assert.equal((await $consumers.enable("orders/mail", true)).enabled, true);
  assert.deepEqual(
    (await $consumers.list()).map(({ name, dead }) => [name, dead]),
    [["orders/mail", 1]],
  );
  const { functions, failures } = await $code();
  assert.deepEqual(
    functions.map(({ kind, name, failures }) => [kind, name, failures]),
    [
      ["consumer", "orders/mail", 2],
      ["job", "digest", 0],
    ],
  );
  assert.match(String(failures[0]?.message), /^Error: no luck/);
  assert.deepEqual(
    (await $jobs.list()).map(({ name, timezone }) => [name, timezone]),
    [["digest", "Europe/Oslo"]],
  );
  assert.equal((await $jobs.run("digest")).name, "digest");
  await until("the job runs", async () => (await $jobs.get("digest")).running?.attempt === 1);
  await assert.rejects($jobs.run("digest"), { code: "JOB_RUNNING" });
});

test("a service without code has none of it", async (t) => {
  const { origin } = await startFor(t);
  const { $code, $consumers, $jobs } = createClient({ baseUrl: `${origin}/api/v1` });
  for (const call of [() => $consumers.list(), () => $consumers.get("a/b"), () => $jobs.list()])
    await assert.rejects(call(), NotFoundError);
  assert.deepEqual(await $code(), { functions: [], failures: [] });
});
