/** How the console shows the code of a configuration, in a real browser. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { administrationTexts, listTexts } from "../../../console/src/texts.ts";
import { type Service, startFor } from "../../http/service.ts";
import { until } from "../../until.ts";
import { inConsole, skip } from "./console-page.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const own = administrationTexts.code;
const nav = listTexts.pageNames.code;

const module = `
export default {
  threads: 1,
  collections: {
    orders: {
      hooks: { validate: ({ resource }) => { if (resource.n === -1) throw new Error("no luck with the hook"); } },
      after: { mail: { run: ({ event }) => { if (event.data?.n === 1) throw new Error("no mail server"); } } },
    },
    reports: {},
  },
  routes: { totals: { path: "totals", access: "public", run: () => 1 } },
  jobs: {
    digest: { cron: "0 7 * * 1", timezone: "Europe/Oslo", as: "service", run: async ({ client }) => { await client.reports.create({}); } },
    fails: { cron: "0 0 29 2 *", run: () => { throw new Error("no report today"); } },
  },
};
`;

/** A service whose functions were called, and some of them failed. */
async function startUsed(t: TestContext): Promise<Service> {
  const service = await startFor(t, { module, console: true, isWatched: false });
  for (const n of [0, 1, -1])
    await service.send({ method: "POST", path: "/api/v1/orders", content: { n } }, { mayFail: true });
  await service.send({ path: "/api/v1/totals" });
  await service.send({ method: "POST", path: "/api/v1/_jobs/fails/_run" });
  const jobs = async () => (await service.send({ path: "/api/v1/_jobs" })).json as { last: unknown }[];
  await until("the job has failed", async () => (await jobs())[1]?.last !== null);
  const path = "/api/v1/_consumers/orders/mail";
  const consumer = async () =>
    (await service.send({ path })).json as { retrying: number; lastSuccess: unknown };
  await until("the consumer has failed once", async () => {
    const { retrying, lastSuccess } = await consumer();
    return retrying === 1 && lastSuccess !== null;
  });
  return service;
}

const card = (page: Page, name: string) =>
  page.getByRole("listitem").filter({ has: page.getByText(name, { exact: true }) });

describe("the code in the console", { skip }, () => {
  test("is there with calls, failures and stacks, and what one can do", async (t) => {
    const service = await startUsed(t);
    await inConsole(service, "#/", async (page) => {
      await page.getByRole("link", { name: nav, exact: true }).click();
      const table = page.getByRole("region", { name: own.functions });
      const row = (name: string, kind: string) =>
        table
          .getByRole("row")
          .filter({ has: page.getByRole("cell", { name, exact: true }) })
          .filter({ hasText: kind });
      assert.match(
        await row("orders", own.kinds.validate).innerText(),
        /orders\s+validate\s+3\s+1\s+[\d.]+ ms/,
      );
      assert.match(await row("totals", own.kinds.route).innerText(), /totals\s+route\s+1\s+0\s+[\d.]+ ms/);

      const mail = card(page, "orders/mail");
      await mail.getByText(own.retrying(1)).waitFor();
      await mail.getByRole("button", { expanded: false }).click();
      const deliveries = page.getByRole("region", { name: own.deliveries("orders/mail") });
      const failed = deliveries.getByRole("row").filter({ hasText: own.deliveryStates.retrying });
      await failed.getByRole("button", { expanded: false }).click();
      await deliveries.getByText("no mail server").waitFor();
      await failed.getByRole("button", { name: own.retry }).click();
      await failed.getByRole("cell", { name: "2", exact: true }).waitFor();
      await failed.getByRole("button", { name: own.skip }).click();
      await mail.getByText(own.dead(1)).waitFor();
      await mail.getByRole("button", { name: own.turnOff }).click();
      await mail.getByText(own.states.disabled, { exact: true }).waitFor();
      await mail.getByRole("button", { name: own.turnOn }).click();
      await mail.getByText(own.states.active, { exact: true }).waitFor();

      await card(page, "fails").getByText("no report today").waitFor();
      const digest = card(page, "digest");
      await digest.getByText(own.neverRun).waitFor();
      await digest.getByRole("button", { name: own.runNow }).click();
      await digest.getByText(own.results.succeeded, { exact: true }).waitFor();
      assert.equal(((await service.send({ path: "/api/v1/reports" })).json as unknown[]).length, 1);

      const failure = card(page, `${own.kinds.validate} orders`);
      assert.equal(await failure.getByText("holdfast.config").count(), 0);
      await failure.getByRole("button", { expanded: false }).click();
      await failure.getByText(/no luck with the hook\n.*holdfast\.config/s).waitFor();
    });
  });

  test("has no fault of accessibility, and fits every window", async (t) => {
    const service = await startUsed(t);
    for (const [width, scheme] of [
      [1_440, "light"],
      [1_440, "dark"],
      [820, "light"],
      [390, "light"],
      [390, "dark"],
    ] as const)
      await inConsole(
        service,
        "#/_code",
        async (page) => {
          await card(page, "orders/mail").getByRole("button", { expanded: false }).click();
          await page.getByRole("region", { name: own.deliveries("orders/mail") }).waitFor();
          await card(page, "fails").getByText("no report today").waitFor();
          await card(page, `${own.kinds.validate} orders`).getByRole("button", { expanded: false }).click();
          await page.evaluate(axe);
          const run =
            "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))";
          assert.deepEqual(await page.evaluate(run), [], `${width} ${scheme}`);
          assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
        },
        { width, scheme },
      );
  });

  test("is not offered by a service without functions", async (t) => {
    const service = await startFor(t, { console: true, collections: { orders: {} }, isWatched: false });
    await inConsole(service, "#/", async (page) => {
      await page.getByRole("link", { name: listTexts.pageNames.webhooks, exact: true }).waitFor();
      assert.equal(await page.getByRole("link", { name: nav, exact: true }).count(), 0);
    });
  });
});
