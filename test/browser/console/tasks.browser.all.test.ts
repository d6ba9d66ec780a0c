/** How the console shows tasks, cancels them and undoes them, in a real browser. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { administrationTexts, listTexts, texts } from "../../../console/src/texts.ts";
import { openStore } from "../../../src/store/open.ts";
import { newTask } from "../../../src/tasks/task.ts";
import { TaskRecords } from "../../../src/tasks/task-records.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../access/issuer.ts";
import { makeFolder } from "../../folder.ts";
import type { Service } from "../../http/service.ts";
import { openTestStore } from "../../http/test-store.ts";
import { machineTime } from "../../until.ts";
import { inConsole, pressInDialog, rowCount, signIn, skip, startShop, titleAt } from "./console-page.ts";

const own = administrationTexts.tasks;
const nav = listTexts.pageNames.tasks;

describe("the tasks in the console", { skip }, () => {
  test("show how far they are, and can be cancelled and undone", async (t) => {
    const service = await startWithImport(t);
    await inConsole(service, "#/_tasks", async (page) => {
      const waiting = cards(page, own.kinds.import);
      await waiting.getByText(own.states.checking, { exact: true }).waitFor();
      await waiting.getByRole("button", { name: own.cancel }).click();
      await pressInDialog(page, own.keep);
      await waiting.getByText(own.states.checking, { exact: true }).waitFor();
      await waiting.getByRole("button", { name: own.cancel }).click();
      await pressInDialog(page, own.cancel);
      await waiting.getByText(own.states.cancelled, { exact: true }).waitFor();
      assert.equal(await waiting.getByRole("button").count(), 0);

      // The page shows without a reload what another client begins.
      await begin(service, "articles/_bulk", {
        filter: { views: { gte: 3 } },
        update: { views: { $set: 0 } },
        max: 50,
      });
      const change = cards(page, own.kinds.update);
      await change.getByText(own.states.done, { exact: true }).waitFor();
      await change.getByText(own.progress(10, 10)).waitFor();
      await change.getByText(own.changed(10)).waitFor();

      await change.getByRole("button", { name: own.undo }).click();
      const question = page.getByRole("dialog");
      await question.getByText(`Undo “${own.kinds.update} · articles”?`, { exact: true }).waitFor();
      await question.getByText("It has changed 10 resources.").waitFor();
      await pressInDialog(page, own.undo);
      const undo = cards(page, own.kinds.undo);
      await undo.getByText(own.states.done, { exact: true }).waitFor();
      await undo.getByText(own.changed(10)).waitFor();
      assert.equal(await change.getByRole("button").count(), 0, "it cannot be undone again");
      const { json } = await service.send({ path: "/api/v1/articles?views:gte=3" });
      assert.equal((json as unknown[]).length, 10);

      await begin(service, "articles/_bulk", { all: true, delete: true, max: 50, dryRun: true });
      const dry = cards(page, own.kinds.delete);
      await dry.getByText(own.states.done, { exact: true }).waitFor();
      await dry.getByText(own.wouldChange(12)).waitFor();
      assert.equal(await dry.getByRole("button").count(), 0, "a dry run has nothing to undo");
    });
  });

  test("say what was refused, and why", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    await begin(service, "articles/_import?skipInvalid=true", [
      { title: "The Sea" },
      { title: "The Coast", status: "lost" },
    ]);
    await inConsole(service, "#/_tasks", async (page) => {
      const card = cards(page, own.kinds.import);
      await card.getByText(own.states.done, { exact: true }).waitFor();
      await card.getByText(own.refused(1)).waitFor();
      const refused = card.getByRole("region", { name: own.refusals("") });
      await refused.getByText(listTexts.line(1, 2)).waitFor();
      await refused.getByText("#/status").waitFor();
    });
  });

  test("are offered for a change that is too large for one commit", async (t) => {
    const large = { type: "string", writeOnly: true } as const;
    const service = await startShop({
      collections: {
        articles: { schema: { type: "object", properties: { title: { type: "string" }, large } } },
      },
      seeds: {
        // More than 16 MiB.
        articles: Array.from({ length: 18 }, (_, n) => {
          return { id: `a${n}`, title: titleAt(n), large: "x".repeat(1_000_000) };
        }),
      },
    });
    t.after(() => service.stop());
    await inConsole(
      service,
      "#/articles",
      async (page) => {
        await rowCount(page, 18);
        await page.getByRole("checkbox", { name: texts.selectAll }).click();
        await page.getByRole("toolbar").getByRole("button", { name: texts.remove }).click();
        await pressInDialog(page, listTexts.asTask);
        await page.getByText(listTexts.isTask).waitFor();
        await page.getByRole("link", { name: nav }).click();
        const card = cards(page, own.kinds.delete);
        await card.getByText(own.states.done, { exact: true }).waitFor();
        await card.getByText(own.changed(18)).waitFor();
      },
      { refused: [413] },
    );
  });

  test("are there for callers who began some, and nobody else's are", async (t) => {
    const pair = createPair("EdDSA");
    const tokenFor = (sub: string, role: string) =>
      tokenOf(pair, claimsAt(machineTime(), { sub, roles: [role] }));
    const access = { read: { role: "writer" }, write: { role: "writer" } } as const;
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "ops" }] },
      collections: { articles: { access } },
      seeds: { articles: [{ id: "a000", title: "The Sea" }] },
    });
    t.after(() => service.stop());
    const change = (sub: string) =>
      begin(
        service,
        "articles/_bulk",
        { all: true, update: { by: { $set: sub } }, max: 50 },
        tokenFor(sub, "writer"),
      );
    await change("kim");
    const open = (sub: string, role: string, steps: (page: Page) => Promise<void>) =>
      inConsole(
        service,
        "#/articles",
        async (page) => {
          await signIn(page, tokenFor(sub, role));
          await steps(page);
        },
        { refused: [401, 403, 404] },
      );
    await open("kim", "writer", async (page) => {
      await page.getByRole("link", { name: nav }).click();
      await cards(page, own.kinds.update).getByText(own.states.done, { exact: true }).waitFor();
    });
    await open("lee", "writer", async (page) => {
      const asked = page.waitForResponse((response) => response.url().endsWith("/_tasks?limit=1"));
      await rowCount(page, 1);
      await (await asked).finished();
      assert.equal(await page.getByRole("link", { name: nav }).count(), 0);
    });
    await change("lee");
    await open("olga", "ops", async (page) => {
      await page.getByRole("link", { name: nav }).click();
      await page.getByText(own.by("kim")).waitFor();
      await page.getByText(own.by("lee")).waitFor();
    });
    await open("lee", "writer", async (page) => {
      await page.getByRole("link", { name: nav }).click();
      await page.getByText(own.by("lee")).waitFor();
      assert.equal(await page.getByText(own.by("kim")).count(), 0);
    });
  });
});

function cards(page: Page, kind: string) {
  return page.getByRole("listitem").filter({ has: page.getByText(`${kind} · articles`, { exact: true }) });
}

/** Begins a task. The test fails if the service refuses it. */
async function begin(service: Service, path: string, content: unknown, token?: string): Promise<void> {
  const headers = {
    Prefer: "respond-async",
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const answer = await service.send({ method: "POST", path: `/api/v1/${path}`, headers, content });
  assert.equal(answer.status, 202, answer.text);
}

/** A service with an import whose request is not complete, so that the task is at work for as long as the test needs. */
async function startWithImport(t: TestContext): Promise<Service> {
  const folder = makeFolder();
  const place = await openTestStore(folder);
  const store = await openStore(place.address);
  const records = new TaskRecords(store);
  const id = "0193ad4c-7b1e-7c39-9f5e-2f6f3f1a9b10";
  const task = newTask({ id, kind: "import", collection: "articles", by: null, createdAt: machineTime() });
  await records.commit(await records.begun({ ...task, active: "no" }, { principal: null }), machineTime());
  await store.close();
  const service = await startShop({ store: place.address });
  t.after(async () => {
    await service.stop();
    place.release();
  });
  return service;
}
