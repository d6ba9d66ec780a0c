/**
 * All screens of the console, at several widths, light and dark: axe-core finds no fault, and no page is wider than its window.
 * A short form leaves looks out that differ little from others. `npm run prove -- console` judges all of them.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../until.ts";
import { administrationScreens, openScreens } from "./administration-screens.ts";
import { inConsole, skip } from "./console-page.ts";
import { type House, openHouse } from "./house.ts";
import { listScreens, resourceScreens, type Screen } from "./list-screens.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const widest = 1_440;
const widths = [widest, 1_024, 390];
const height = 900;

/** A screen at one width, light or dark. */
interface Look {
  width: number;
  colorScheme: "light" | "dark";
}

const allLooks: readonly Look[] = widths.flatMap((width) => [
  { width, colorScheme: "light" },
  { width, colorScheme: "dark" },
]);

const looks =
  process.env.HOLDFAST_TEST_RUNS !== undefined
    ? allLooks
    : allLooks.filter(
        ({ width, colorScheme }) => width === widest || (width === 390 && colorScheme === "light"),
      );

/** The screens that need no credential. */
const wayIn = "the way in";

const areas: Readonly<Record<string, (house: House) => readonly Screen[]>> = {
  lists: () => listScreens,
  resources: resourceScreens,
  administration: () => administrationScreens,
  [wayIn]: () => openScreens,
};

describe("the screens of the console", { skip }, () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house?.close());

  for (const [area, screensOf] of Object.entries(areas))
    test(area, async () => {
      const { service, token } = house;
      const faults: string[] = [];
      const steps = async (page: Page) => {
        const credential = JSON.stringify(area === wayIn ? "" : token);
        await page.evaluate(`sessionStorage.setItem("holdfast.credential", ${credential})`);
        for (const { name, fragment, open } of screensOf(house)) {
          await page.setViewportSize({ width: widest, height });
          await page.goto("about:blank");
          await page.goto(`${service.origin}/${fragment}`);
          await open(page).catch((error: Error) => {
            throw new Error(`${name} does not open: ${error.message}`);
          });
          for (const each of await faultsOf(page)) faults.push(`${name}, ${each}`);
        }
        assert.deepEqual(faults, []);
      };
      await inConsole(service, "#/", steps, { refused: [400, 401, 404, 409, 412] });
    });
});

/** What is wrong with a screen at each width, light and dark. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(axe);
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await settled(page, colorScheme);
    const found = await axeFaults(page, colorScheme);
    faults.push(...[...found, ...(await tooWide(page))].map((each) => `${width} ${colorScheme}: ${each}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  return faults;
}

/** Waits until the page has its colours, and no animation runs: text that fades in has too little contrast. */
async function settled(page: Page, colorScheme: string): Promise<void> {
  await until(`the page is ${colorScheme} and still`, () =>
    page.evaluate<boolean>(
      `document.documentElement.dataset.mantineColorScheme === "${colorScheme}" && document.getAnimations().every(({ playState, effect }) => playState !== "running" || effect.getTiming().iterations === Infinity)`,
    ),
  );
}

/**
 * What axe-core finds, in the dialog, the menu or the panel that is open. What is behind it is a screen of its own. In the dark,
 * only colours differ.
 */
async function axeFaults(page: Page, colorScheme: "light" | "dark"): Promise<string[]> {
  const options = JSON.stringify(colorScheme === "dark" ? { runOnly: ["color-contrast"] } : {});
  return page.evaluate<string[]>(
    `axe.run(document.querySelector("[role=dialog], [role=menu]") ?? document.querySelector(".panel") ?? document, ${options}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 160), nodes[0].failureSummary].join(" ")))`,
  );
}

/** What makes the page wider than its window. */
async function tooWide(page: Page): Promise<string[]> {
  const by = await page.evaluate<number>("document.scrollingElement.scrollWidth - innerWidth");
  return by > 0 ? [`${by} pixels too wide`] : [];
}
