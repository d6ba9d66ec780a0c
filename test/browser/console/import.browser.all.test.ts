/** How the console imports and exports files, in a real browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { listTexts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import {
  collections,
  inConsole,
  pressInDialog,
  rowCount,
  rowOf,
  skip,
  startShop,
  titleAt,
} from "./console-page.ts";

const file = `title,status,views
The Sea,draft,3
,draft,4
The Coast,published,5
The Tide,lost,6
`;

describe("files in the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop();
  });
  after(() => service.stop());

  test("an export has all that the filters show", async () => {
    await inConsole(service, "#/articles?status=draft&sort=title", async (page) => {
      await rowCount(page, 6);
      await page.getByRole("button", { name: "Export" }).click();
      const cells = page.getByRole("dialog").getByText(listTexts.csvCells);
      await cells.waitFor();
      await page.getByRole("dialog").getByText("JSON", { exact: true }).click();
      await cells.waitFor({ state: "detached" });
      const [download] = await Promise.all([page.waitForEvent("download"), pressInDialog(page, "Export")]);
      assert.equal(download.suggestedFilename(), "articles.json");
      const resources = JSON.parse(await readFile(await download.path(), "utf8")) as { title: string }[];
      assert.deepEqual(
        resources.map(({ title }) => title),
        [0, 2, 4, 6, 8, 10].map(titleAt),
      );
    });
  });

  test("a CSV file for Excel begins with one byte order mark and has the chosen delimiter", async () => {
    await inConsole(service, "#/articles?status=draft&sort=title", async (page) => {
      await rowCount(page, 6);
      await page.getByRole("button", { name: "Export" }).click();
      await page.getByLabel(listTexts.shownOnly).check();
      await page.getByLabel(listTexts.forExcel).check();
      await page.getByRole("dialog").getByRole("combobox", { name: listTexts.delimiter }).click();
      await page.getByRole("option", { name: "Semicolon" }).click();
      const [download] = await Promise.all([page.waitForEvent("download"), pressInDialog(page, "Export")]);
      assert.equal(download.suggestedFilename(), "articles.csv");
      const text = await readFile(await download.path(), "utf8");
      const [header = "", ...lines] = text.trimEnd().split("\r\n");
      assert.match(header, /^\uFEFFid;[^,\uFEFF]*;?title/);
      assert.equal(lines.length, 6);
      for (const line of lines) assert.match(line, /^[^;,\uFEFF]+;/);
    });
  });

  test("an import shows the bad lines first, and writes the others", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 12);
      await page.getByRole("button", { name: "Import" }).click();
      await page.getByRole("dialog").getByText(listTexts.csvCells).waitFor();
      const dialog = page.getByRole("dialog");
      const chooser = page.waitForEvent("filechooser");
      await pressInDialog(page, "Choose a file");
      await (await chooser).setFiles({ name: "two.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
      await dialog.getByText("line 3", { exact: true }).waitFor();
      await dialog.getByText("line 5", { exact: true }).waitFor();
      assert.equal(await dialog.locator(".bad-lines > div").count(), 2);
      assert.deepEqual(await dialog.locator(".bad-lines code").allInnerTexts(), ['"lost"']);
      await rowCount(page, 12);
      await pressInDialog(page, "Import the 2 valid ones");
      await page.getByText("2 imported, 2 skipped", { exact: true }).waitFor();
      await rowOf(page, "The Sea").waitFor();
      await rowCount(page, 14);
      await rowOf(page, "The Coast").waitFor();
    });
  });

  test("an import asks where the list is, what the id is, and what happens to ids that do not fit", async () => {
    await inConsole(
      service,
      "#/articles",
      async (page) => {
        await page.getByRole("button", { name: "Import" }).click();
        const dialog = page.getByRole("dialog");
        const records = [
          { sku: "shop:1", title: "The Lake", status: "draft" },
          { sku: "fits", title: "The Pond", status: "draft" },
        ];
        const buffer = Buffer.from(JSON.stringify({ records, total: 2 }, null, 2));
        await page
          .locator("input[type=file]")
          .setInputFiles({ name: "shop.json", mimeType: "application/json", buffer });
        const place = listTexts.placeOfList;
        await dialog.getByText(`set “${place}” to records`).waitFor();
        await dialog.getByLabel(place).fill("records");
        await dialog.getByRole("textbox", { name: listTexts.idMember, exact: true }).fill("sku");
        await dialog.getByRole("button", { name: listTexts.doImport(1, true) }).waitFor();
        await dialog.getByRole("combobox", { name: listTexts.unfitIds }).click();
        await page.getByRole("option", { name: "Get new ids", exact: true }).click();
        await pressInDialog(page, listTexts.doImport(2, false));
        await rowOf(page, "The Lake").waitFor();
        assert.equal((await service.send({ path: "/api/v1/articles/fits" })).status, 200);
      },
      { refused: [400] },
    );
  });

  test("an import shows what its columns would be, and asks for their types and for conversions", async (t) => {
    const shop = await startShop({ collections: { ...collections, people: {} } });
    t.after(() => shop.stop());
    const headers = { "Content-Type": "application/json" };
    await shop.send({ method: "POST", path: "/api/v1/people", headers, body: '{"name":"Ada"}' });
    await inConsole(
      shop,
      "#/people",
      async (page) => {
        await rowCount(page, 1);
        await page.getByRole("button", { name: "Import" }).click();
        const dialog = page.getByRole("dialog");
        const buffer = Buffer.from("id,age,zip,at\na,5,00123,2026-01-02 03:04:05\nb,6,1234,\n");
        await page
          .locator("input[type=file]")
          .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
        const columns = dialog.getByRole("region", { name: listTexts.foundColumns });
        const said = async (...lines: string[]) => {
          for (const line of lines) await columns.getByText(line).waitFor();
        };
        await said(listTexts.couldBe("number"), "Line 2 has “00123”");
        await dialog.getByRole("combobox", { name: listTexts.cellTypes }).click();
        await page.getByRole("option", { name: "Are what all cells of their column are" }).click();
        await columns.getByText("number", { exact: true }).waitFor();
        await dialog.getByRole("combobox", { name: listTexts.convert }).click();
        await page.getByRole("option", { name: /^Times/ }).click();
        await dialog.getByText(`set “${listTexts.timezone}” to Europe/Berlin`).waitFor();
        await dialog.getByRole("textbox", { name: listTexts.timezone }).fill("Europe/Berlin");
        await said(listTexts.converted(1, 0));
        await rowCount(page, 1);
        await pressInDialog(page, listTexts.doImport(2, false));
        await rowCount(page, 3);
        const { json } = await shop.send({ path: "/api/v1/people/a" });
        assert.deepEqual(json, { id: "a", age: 5, zip: "00123", at: "2026-01-02T02:04:05.000Z" });
      },
      { refused: [400] },
    );
  });

  test("an import changes the resources that have the same value of a unique key", async (t) => {
    const { articles } = collections;
    const { properties } = articles.schema;
    const schema = {
      ...articles.schema,
      properties: { ...properties, author: { ...properties.author, maxLength: 50 } },
    };
    // An import cannot use an entry with `where`.
    const unique = ["title", { attributes: ["author", "views"], where: { status: "draft" } }] as const;
    const shop = await startShop({
      collections: { ...collections, articles: { ...articles, schema, unique } },
    });
    t.after(() => shop.stop());
    const sameTitles = `title,views\n${titleAt(0)},90\n${titleAt(1)},11\nThe Sea,3\n${titleAt(2)},lost\n`;
    await inConsole(shop, "#/articles", async (page) => {
      await rowCount(page, 12);
      await page.getByRole("button", { name: "Import" }).click();
      const dialog = page.getByRole("dialog");
      const buffer = Buffer.from(sameTitles);
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "same.csv", mimeType: "text/csv", buffer });
      // Without a key, all titles but one are taken.
      await dialog.getByRole("button", { name: listTexts.doImport(1, true) }).waitFor();
      await dialog.getByRole("combobox", { name: listTexts.sameValues }).click();
      assert.deepEqual(await page.getByRole("option").allInnerTexts(), ["title"]);
      await page.getByRole("option", { name: "title" }).click();
      await dialog.getByText(listTexts.wouldMerge({ made: 1, changed: 1, same: 1 })).waitFor();
      await rowCount(page, 12);
      await pressInDialog(page, listTexts.doImport(3, true));
      await page
        .getByText(listTexts.merged({ made: 1, changed: 1, same: 1, invalid: 1 }), { exact: true })
        .waitFor();
      await rowCount(page, 13);
      const { json } = await shop.send({ path: "/api/v1/articles/a000" });
      const { title, status, views } = json as Record<string, unknown>;
      assert.deepEqual(
        [title, status, views],
        [titleAt(0), "draft", 90],
        "it keeps what the file leaves out",
      );
    });
  });
});
