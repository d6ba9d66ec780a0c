/** The screens of the console at several widths, light and dark: axe-core finds no fault, and no page is wider than its window. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import { inConsole, panelOf, rowCount, skip, startShop } from "./console-page.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const widths = [1_440, 1_024, 390];

/** Each screen: its fragment, and what shows that it is complete. */
const screens: Readonly<Record<string, { fragment: string; isReady(page: Page): Promise<unknown> }>> = {
  start: { fragment: "#/", isReady: (page) => page.getByText("12 resources").waitFor() },
  list: { fragment: "#/articles?status=draft", isReady: (page) => rowCount(page, 6) },
  resource: {
    fragment: "#/articles/a000",
    isReady: (page) => panelOf(page).getByText("Version 1").waitFor(),
  },
  JSON: {
    fragment: "#/articles/a000/json",
    isReady: (page) => panelOf(page).locator(".cm-content").waitFor(),
  },
  history: {
    fragment: "#/articles/a000/history",
    isReady: (page) => panelOf(page).getByText("Version 1").waitFor(),
  },
  related: {
    fragment: "#/authors/ada/related",
    isReady: (page) => panelOf(page).getByText("a000").waitFor(),
  },
  access: {
    fragment: "#/articles/a000/access",
    isReady: (page) =>
      until("all is answered", async () => (await panelOf(page).getByLabel("Allowed").count()) === 5),
  },
  "new resource": {
    fragment: "#/articles/_new",
    isReady: (page) => panelOf(page).getByRole("button", { name: "Create" }).waitFor(),
  },
  webhooks: {
    fragment: "#/_webhooks",
    isReady: (page) => page.getByText("No webhooks yet").first().waitFor(),
  },
  configuration: {
    fragment: "#/_configuration",
    isReady: (page) => page.getByText("port", { exact: true }).waitFor(),
  },
  health: { fragment: "#/_health", isReady: (page) => page.getByText("Reads and writes work.").waitFor() },
  export: { fragment: "#/articles", isReady: (page) => openDialog(page, "Export") },
  API: { fragment: "#/articles", isReady: (page) => openDialog(page, "API") },
};

async function openDialog(page: Page, name: string): Promise<void> {
  await rowCount(page, 12);
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("dialog").waitFor();
}

describe("the screens of the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop();
  });
  after(() => service.stop());

  // The colours do not depend on the width.
  for (const [scheme, ofScheme] of [
    ["light", widths],
    ["dark", [1_440]],
  ] as const)
    for (const width of ofScheme)
      test(`${width} pixels wide, ${scheme}`, async () => {
        const steps = async (page: Page) => {
          const faults: string[] = [];
          for (const [name, { fragment, isReady }] of Object.entries(screens)) {
            await page.goto("about:blank");
            await page.goto(`${service.origin}/${fragment}`);
            await isReady(page);
            for (const each of [...(await axeFaults(page)), ...(await tooWide(page))])
              faults.push(`${name}: ${each}`);
          }
          assert.deepEqual(faults, []);
        };
        await inConsole(service, "#/", steps, { width, scheme, refused: [404] }); // the page about health finds no metrics
      });
});

/** What axe-core finds. Animations end first: text that fades in has too little contrast. */
async function axeFaults(page: Page): Promise<string[]> {
  await until("no animation runs", () =>
    page.evaluate<boolean>(
      "document.getAnimations().every(({ playState, effect }) => playState !== 'running' || effect.getTiming().iterations === Infinity)",
    ),
  );
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 160), nodes[0].failureSummary].join(' ')))",
  );
}

/** What makes the page wider than its window. */
async function tooWide(page: Page): Promise<string[]> {
  const by = await page.evaluate<number>("document.scrollingElement.scrollWidth - innerWidth");
  return by > 0 ? [`${by} pixels too wide`] : [];
}
