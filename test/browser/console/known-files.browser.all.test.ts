/** Files of known programs, in the dialog of the console: the same resources as in `test/import/known-files`, and the same advice. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { listTexts } from "../../../console/src/texts.ts";
import type { Advice } from "../../../src/import/items.ts";
import type { ImportTexts } from "../../../src/import/options.ts";
import type { Service } from "../../http/service.ts";
import {
  collectionFor,
  collections,
  comparable,
  type KnownFile,
  knownFiles,
} from "../../import/known-files.ts";
import { until } from "../../until.ts";
import { inConsole, pressInDialog, skip, startShop } from "./console-page.ts";

const labels: Readonly<Record<string, string>> = {
  at: listTexts.placeOfList,
  delimiter: listTexts.delimiter,
  timezone: listTexts.timezone,
};

const fieldAdvice: Advice = (option, value) => `set “${labels[option]}” to ${value}`;

/** The label of a choice. */
function labelOf(choices: readonly { value: string; label: string }[], value: string): string {
  return choices.find((each) => each.value === value)?.label ?? value;
}

/** Fills in the fields of the dialog. It finds the delimiter by itself. */
async function setFields(page: Page, { at, id, ids, types, convert, timezone }: ImportTexts): Promise<void> {
  const dialog = page.getByRole("dialog");
  const fill = async (label: string, text: string | undefined) => {
    if (text !== undefined) await dialog.getByRole("textbox", { name: label, exact: true }).fill(text);
  };
  const choose = async (label: string, options: readonly string[]) => {
    if (options.length === 0) return;
    await dialog.getByRole("combobox", { name: label }).click();
    for (const option of options) await page.getByRole("option", { name: option, exact: true }).click();
    await page.keyboard.press("Tab");
  };
  await fill(listTexts.placeOfList, at);
  await fill(listTexts.idMember, id);
  await choose(listTexts.unfitIds, ids === undefined ? [] : [labelOf(listTexts.newIdsFor, ids)]);
  await choose(listTexts.cellTypes, types === undefined ? [] : [labelOf(listTexts.cellTypesFor, types)]);
  await choose(
    listTexts.convert,
    convert === undefined ? [] : convert.split(",").map((each) => labelOf(listTexts.conversions, each)),
  );
  await fill(listTexts.timezone, timezone);
}

/** Opens the dialog with a file. */
async function withFile(page: Page, file: KnownFile): Promise<void> {
  await page.getByRole("button", { name: "Import" }).first().click(); // an empty list has another one
  await page.getByRole("dialog").waitFor();
  await page.locator("input[type=file]").setInputFiles(`test/import/files/${file.name}`);
}

describe("a file of", { skip, concurrency: 4 }, () => {
  let service: Service;
  before(async () => {
    service = await startShop({ collections, seeds: {} });
  });
  after(() => service.stop());

  const list = async (file: KnownFile) =>
    comparable((await service.send({ path: `/api/v1/${collectionFor(file)}` })).json as object[], file);

  for (const file of knownFiles.filter(({ inConsole: how }) => how !== "does not take it"))
    test(file.program, async () => {
      const { refused, imported, options = {} } = file;
      await inConsole(
        service,
        `#/${collectionFor(file)}`,
        async (page) => {
          await withFile(page, file);
          const dialog = page.getByRole("dialog");
          if (refused !== undefined && file.inConsole === undefined) {
            await setFields(page, refused.options ?? {});
            if (refused.says !== undefined)
              await dialog.getByText(refused.says(fieldAdvice), { exact: true }).waitFor();
            for (const { line, detail } of refused.lines ?? []) {
              const shown = detail.replace(/The import option "ids".*/, listTexts.newIdsAdvice);
              await dialog.getByText(listTexts.line(line), { exact: true }).waitFor();
              await dialog.locator(".bad-lines").getByText(shown).first().waitFor();
            }
          }
          if (imported === undefined) {
            assert.equal(await dialog.getByRole("button", { name: /^Import / }).count(), 0);
            return;
          }
          if (refused?.options !== undefined) {
            await page.reload();
            await withFile(page, file);
          }
          await setFields(page, options);
          await pressInDialog(page, listTexts.doImport(imported.length, false));
          await dialog.waitFor({ state: "detached" });
        },
        { refused: [400] },
      );
      if (imported !== undefined)
        await until("all is imported", async () => (await list(file)).length >= imported.length);
      assert.deepEqual(await list(file), comparable(imported ?? [], file));
    });
});
