/**
 * The console shows what users wrote. None of it runs, none of it breaks the page, and none of it changes unless the user of the
 * console changes it. Takes about twenty seconds.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type Service, startService } from "../../http/service.ts";
import { openBrowser, patienceMs, type Seen, watchPage } from "../browser.ts";

const attack = '"><img src=x onerror="window.fired = true"><script>window.fired = true</script>';
const address = "javascript:window.fired=true//";
const reversed = "\u202egnp.exe\u2066";

/** What drives the browser runs in the thread of the service. */

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

async function open(url: string): Promise<{ page: Page; seen: Seen }> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(patienceMs);
  const seen = watchPage(page);
  await page.goto(url);
  return { page, seen };
}

/** Nothing ran, nothing was created, and nothing was requested elsewhere. */
async function assertHarmless(page: Page, seen: Seen, origin: string): Promise<void> {
  const found = await page.evaluate(
    `[window.fired === true, document.querySelectorAll('img[src="x"], script:not([src]), a[href^="javascript:" i]').length]`,
  );
  assert.deepEqual(found, [false, 0]);
  assert.deepEqual(
    seen.requests.filter((url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${origin}/`)),
    [],
  );
}

describe("hostile texts in the console", { skip }, () => {
  let service: Service;
  const id = `id-${attack}`;
  before(async () => {
    const hostile = {
      id,
      title: attack,
      [attack]: attack,
      [address]: address,
      link: address,
      reversed,
      nested: { [attack]: [attack, { [attack]: address }] },
      list: [attack, address],
    };
    service = await startService({
      console: true,
      collections: {
        open: {},
        declared: {
          schema: {
            title: attack,
            description: attack,
            type: "object",
            properties: {
              title: { type: "string", title: attack, description: attack, maxLength: 200 },
              state: { enum: [attack, "plain"], description: address },
              [attack]: { type: "string", minLength: 500 },
            },
            additionalProperties: false,
          },
        },
      },
      seeds: {
        open: [hostile],
        declared: [{ id: "one", title: attack, state: attack }],
      },
    });
  });
  after(() => service.stop());

  test("stay texts in a list, in its filters and in its dialogs", async () => {
    const { page, seen } = await open(`${service.origin}/#/open`);
    await page.getByText(attack, { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "API" }).click();
    await page.locator("[role=dialog][aria-modal=true]").waitFor();
    await assertHarmless(page, seen, service.origin);
    const filter = new URLSearchParams({ [`${attack}`]: attack });
    await page.goto(`${service.origin}/#/open?${filter}`);
    await page.reload();
    await page.getByText(attack, { exact: true }).first().waitFor();
    await assertHarmless(page, seen, service.origin);
    assert.deepEqual(seen.errors, []);
    await page.close();
  });

  test("stay texts in each tab of a resource, in its messages and in the palette", async () => {
    const { page, seen } = await open(`${service.origin}/#/open/${encodeURIComponent(id)}`);
    const panel = page.locator(".panel");
    for (const name of ["JSON", "History", "Related", "Access", "Attributes"]) {
      await panel.getByRole("tab", { name }).click();
      await panel.getByRole("tab", { name, selected: true }).waitFor();
      await assertHarmless(page, seen, service.origin);
    }
    await panel.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await assertHarmless(page, seen, service.origin);
    await page.getByRole("button", { name: "Undo" }).click();
    await panel.waitFor();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A collection, a page or an id").fill(id);
    await assertHarmless(page, seen, service.origin);
    assert.deepEqual(
      seen.errors.filter((error) => !error.includes("status of 404")),
      [],
    );
    await page.close();
  });

  test("stay texts in a schema and in the faults of a refused change", async () => {
    const { page, seen } = await open(`${service.origin}/#/declared/one`);
    const panel = page.locator(".panel");
    await panel.getByRole("textbox").first().waitFor();
    await assertHarmless(page, seen, service.origin);
    await panel.getByRole("tab", { name: "JSON" }).click();
    const content = panel.locator(".cm-content");
    await content.waitFor();
    await content.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(
      JSON.stringify({ id: "one", title: attack, state: "plain", [attack]: address }),
    );
    await panel.getByRole("button", { name: "Save changes" }).click();
    await page
      .getByText(/must|at least|shorter|characters/i)
      .first()
      .waitFor();
    await assertHarmless(page, seen, service.origin);
    assert.deepEqual(
      seen.errors.filter((error) => !error.includes("status of 400")),
      [],
    );
    await page.close();
  });
});

/** As many objects in each other. */
function deep(levels: number): unknown {
  let value: unknown = "inmost";
  for (let n = 0; n < levels; n++) value = { inner: value };
  return value;
}

const large: Record<string, Record<string, unknown>> = {
  long: { title: "long", text: `${"All work and no play makes a long text. ".repeat(26_000)}` },
  deep: { title: "deep", value: deep(60) },
  wide: {
    title: "wide",
    ...Object.fromEntries(Array.from({ length: 9_990 }, (_, n) => [`member-${n}`, n])),
  },
  members: {
    title: "members",
    value: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`m${n}`, [n]])),
  },
};

/** Numbers and texts that are easily changed by a program that reads and writes them. */
const exact =
  '{"title":"exact","z":1e21,"big":9007199254740991,"small":5e-324,"tenth":0.1,"negative":-7.25e-9,' +
  '"nothing":null,"empty":"","text":"\\ud83d\\ude00 e\\u0301 \\u2028","list":[null,1,[]],"2":"two","1":"one","object":{"b":1,"a":{}}}';

describe("large and exact resources in the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startService({
      console: true,
      limits: { bodyBytes: 4 * 1024 * 1024 },
      collections: { things: {} },
      seeds: { things: Object.entries(large).map(([id, content]) => ({ id, ...content })) },
    });
  });
  after(() => service.stop());

  const read = async (id: string) => {
    const { text, headers } = await service.send({ method: "GET", path: `/api/v1/things/${id}` });
    return { text, etag: headers.etag };
  };

  /** Changes the title in the form, and saves. */
  async function retitle(page: Page, title: string): Promise<void> {
    const panel = page.locator(".panel");
    const field = panel.getByRole("textbox", { name: "title", exact: true });
    await field.fill(title);
    await panel.getByRole("button", { name: "Save changes" }).click();
    await panel.getByText(/^Saved/).waitFor();
  }

  for (const id of Object.keys(large))
    test(`a resource that is ${id} is shown, and a change of one attribute leaves the others`, async () => {
      const before = await read(id);
      const { page, seen } = await open(`${service.origin}/#/things/${id}`);
      const panel = page.locator(".panel");
      for (const name of ["JSON", "History", "Attributes"]) {
        await panel.getByRole("tab", { name }).click();
        await panel.getByRole("tab", { name, selected: true }).waitFor();
      }
      const elements = await page.evaluate("document.querySelectorAll('*').length");
      assert.ok(Number(elements) < 12_000, `${elements} elements`);
      await retitle(page, `${id}, changed`);
      const { text } = await read(id);
      assert.equal(text, before.text.replace(`"title":"${id}"`, `"title":"${id}, changed"`));
      assert.deepEqual(seen.errors, []);
      await page.close();
    });

  test("numbers, null, order and unusual characters stay as they are when something else changes", async () => {
    const made = await service.send({
      method: "POST",
      path: "/api/v1/things",
      headers: { "content-type": "application/json" },
      body: exact,
    });
    assert.equal(made.status, 201, made.text);
    const { id } = made.json as { id: string };
    const before = await read(id);
    const { page, seen } = await open(`${service.origin}/#/things/${id}`);
    await retitle(page, "other");
    const after = await read(id);
    assert.equal(after.text, before.text.replace('"title":"exact"', '"title":"other"'));
    assert.notEqual(after.etag, before.etag);
    // The JSON editor shows the same text, and gives it back unchanged but for the edit.
    const panel = page.locator(".panel");
    await panel.getByRole("tab", { name: "JSON" }).click();
    await panel.locator(".cm-content").waitFor();
    await panel.locator(".cm-content").getByText('"other"').dblclick();
    await page.keyboard.insertText("third");
    await panel.getByRole("button", { name: "Save changes" }).click();
    await panel.getByText(/^Saved/).waitFor();
    assert.equal((await read(id)).text, before.text.replace('"title":"exact"', '"title":"third"'));
    assert.deepEqual(seen.errors, []);
    await page.close();
  });
});
