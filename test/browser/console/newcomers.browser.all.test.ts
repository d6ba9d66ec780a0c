/** What somebody sees first in the console of an open service, on screens of several widths, in a real browser. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { listTexts, texts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import { field, inConsole, panelOf, pressInDialog, rowCount, skip, startShop } from "./console-page.ts";

const widths = [1_280, 820, 390];
const screens = widths.flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));

const article = { title: "The Sea", views: 3, done: true, at: "2026-11-23T10:00:00.000Z" };

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

async function boxOf(locator: Locator): Promise<Box> {
  return (await locator.boundingBox()) ?? assert.fail("it is not on the screen");
}

/** Whether an element is wider than its place, so that a part of it is not shown. */
function isClipped(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => {
    const { scrollWidth, clientWidth } = element as unknown as { scrollWidth: number; clientWidth: number };
    return scrollWidth > clientWidth;
  });
}

/** The sidebar is closed on a narrow screen. */
async function openSidebar(page: Page, width: number): Promise<void> {
  if (width < 760) await page.getByRole("button", { name: listTexts.menu }).click();
}

async function chooseFile(page: Page, content: string): Promise<Locator> {
  await page.getByRole("button", { name: texts.importFile }).first().click();
  const chooser = page.waitForEvent("filechooser");
  await pressInDialog(page, listTexts.chooseFile);
  await (await chooser).setFiles({ name: "a.csv", mimeType: "text/csv", buffer: Buffer.from(content) });
  return page.getByRole("dialog");
}

describe("the console of an open service", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop({ collections: {}, openCollections: true, seeds: {} });
    for (let n = 0; n < 3; n++)
      await service.send({ method: "POST", path: "/api/v1/articles", content: { ...article, views: n } });
  });
  after(() => service.stop());

  for (const { width, scheme } of screens)
    test(`asks for a new collection in a dialog with margins, at ${width} pixels, ${scheme}`, async () => {
      const steps = async (page: Page) => {
        await rowCount(page, 3);
        await openSidebar(page, width);
        await page.getByRole("navigation").getByRole("button", { name: listTexts.newCollection }).click();
        const dialog = page.getByRole("dialog");
        const outer = await boxOf(dialog);
        for (const part of [
          dialog.locator("input"),
          dialog.locator("textarea").first(),
          dialog.locator("pre"),
        ]) {
          const { x, width } = await boxOf(part);
          assert.ok(x - outer.x >= 16 && outer.x + outer.width - x - width >= 16, "it has a margin");
        }
        const [create, cancel] = [texts.create, texts.cancel].map((name) =>
          dialog.getByRole("button", { name, exact: true }),
        ) as [Locator, Locator];
        assert.equal((await boxOf(create)).y, (await boxOf(cancel)).y, "both buttons are in the footer");
        assert.match(await dialog.locator("pre").innerText(), /\/api\/v1\/topics'/);
        const name = `made${width}${scheme}`;
        await dialog.getByRole("textbox", { name: listTexts.collectionName }).fill(name);
        assert.ok((await dialog.locator("pre").innerText()).includes(`/api/v1/${name}'`));
        await page.keyboard.press("Enter");
        await rowCount(page, 1);
      };
      await inConsole(service, "#/articles", steps, { width, scheme });
    });

  for (const width of widths)
    test(`has the buttons of a list in one row, and shows whole labels, at ${width} pixels`, async () => {
      const steps = async (page: Page) => {
        await rowCount(page, 3);
        const short = page.locator(".head .short");
        await until("all buttons are there", async () => (await short.count()) === 5);
        const buttons = await short.all();
        const tops = await Promise.all(buttons.map(async (each) => (await boxOf(each)).y));
        assert.equal(new Set(tops).size, 1, String(tops));
        await page.getByRole("button", { name: texts.newResource }).click();
        for (const name of [texts.create, texts.cancel]) {
          const label = panelOf(page)
            .getByRole("button", { name, exact: true })
            .locator(".mantine-Button-label");
          assert.equal(await isClipped(label), false, name);
        }
        assert.equal(await isClipped(panelOf(page).locator(".foot2 .state")), false);
      };
      await inConsole(service, "#/articles", steps, { width });
    });

  test("has the button for a new collection on the line of its heading", async () => {
    await inConsole(service, "#/articles", async (page) => {
      const button = page.getByRole("navigation").getByRole("button", { name: listTexts.newCollection });
      const [inner, outer] = [await boxOf(button), await boxOf(page.locator(".group").first())];
      // The padding above the text is 12 pixels, and that below it 4.
      const middle = outer.y + 12 + (outer.height - 16) / 2;
      assert.ok(Math.abs(inner.y + inner.height / 2 - middle) <= 1, JSON.stringify({ inner, outer }));
      assert.ok(outer.x + outer.width - inner.x - inner.width <= 16, "it is at the end of the line");
    });
  });

  test("puts the filters where the search would be, and says aside that it is off", async () => {
    await inConsole(service, "#/articles", async (page) => {
      const off = page.getByText(listTexts.searchOff, { exact: true });
      const [filter, note] = [
        await boxOf(page.getByRole("button", { name: texts.addFilter })),
        await boxOf(off),
      ];
      assert.ok(filter.x < note.x);
      assert.equal(await page.locator("[data-list-search]").count(), 0);
      await off.focus();
      await page.getByText(texts.noSearch).waitFor();
    });
  });

  test("offers the attributes of other resources for a new one, and leaves out those without a value", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 3);
      await page.getByRole("button", { name: texts.newResource }).click();
      await field(page, "title").fill("A new one");
      assert.deepEqual(await panelOf(page).locator(".field .text").allInnerTexts(), [
        "title",
        "views",
        "done",
        "at",
      ]);
      await field(page, "views").fill("07");
      assert.equal(await panelOf(page).getByRole("button", { name: texts.create }).isDisabled(), true);
      await field(page, "views").fill("7");
      await panelOf(page).getByRole("button", { name: texts.create, exact: true }).click();
      await rowCount(page, 4);
      const { json } = await service.send({ path: "/api/v1/articles?title=A%20new%20one" });
      const [{ id, ...made }] = json as [Record<string, unknown>];
      assert.deepEqual(made, { title: "A new one", views: 7 }, String(id));
      await service.send({ method: "DELETE", path: `/api/v1/articles/${id}` });
    });
  });

  test("completes a local time that was typed", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 3);
      await page.getByRole("button", { name: texts.newResource }).click();
      const at = field(page, "at");
      for (const [typed, local] of [
        ["2026-11-23 9:05", "2026-11-23T09:05:00.000"],
        ["2026-11-23", "2026-11-23T00:00:00.000"],
        ["2026-11-23T10:00:30.5", "2026-11-23T10:00:30.500"],
      ] as const) {
        await at.fill(typed);
        await at.blur();
        const time = await page.evaluate(`new Date(${JSON.stringify(local)}).toISOString()`);
        assert.equal(await at.inputValue(), time, typed);
      }
      for (const whole of ["2026-11-23T10:00:00.000Z", "tomorrow", "2026-13-45 10:00", "2026-02-31"]) {
        await at.fill(whole);
        await at.blur();
        assert.equal(await at.inputValue(), whole);
      }
      await at.fill("");
    });
  });

  test("shows the place of the error in a file that cannot be read to its end", async () => {
    const steps = async (page: Page) => {
      await rowCount(page, 3);
      const dialog = await chooseFile(page, 'id,title\n1,"The "Sea"\n2,The Tide\n');
      await dialog.getByText("place of the last error").waitFor();
      await dialog.getByText("line 2", { exact: true }).waitFor();
      await dialog.getByText("a quote inside it must be doubled").waitFor();
      assert.equal(await dialog.getByRole("button", { name: /^Import/ }).count(), 0);
    };
    await inConsole(service, "#/articles", steps, { refused: [400] });
  });

  test("says that rows are written while they are", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 3);
      const go = Promise.withResolvers<void>();
      await page.route(/\/_import/, async (route) => {
        if (!route.request().url().includes("dryRun=true")) await go.promise;
        await route.continue();
      });
      const dialog = await chooseFile(page, "title\nThe Tide\n");
      await dialog.getByText(listTexts.nothingWritten).waitFor();
      await pressInDialog(page, "Import 1");
      await dialog.getByText(listTexts.writing).waitFor();
      assert.equal(await dialog.getByText(listTexts.nothingWritten).count(), 0);
      go.resolve();
      await until("it is imported", async () => (await dialog.count()) === 0);
      await rowCount(page, 4);
    });
  });
});
