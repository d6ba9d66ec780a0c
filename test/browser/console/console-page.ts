/** The console in a browser, for the tests of this folder: one browser for each file, and one page for each test. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import type { GuardedDeclaration } from "../../../src/access/access-declaration.ts";
import { type Service, type ServiceOptions, startService } from "../../http/service.ts";
import { until } from "../../until.ts";
import { openBrowser, patienceMs, picturesFolder, watchPage } from "../browser.ts";

const opened = await openBrowser();
/** Why the tests cannot run here; `false` if they can. */
export const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

const text = { type: "string" };

/** Authors, and articles that refer to them. */
export const collections = {
  authors: { schema: { type: "object", required: ["name"], properties: { name: text } }, search: ["name"] },
  articles: {
    search: ["title"],
    references: { author: "authors" },
    schema: {
      type: "object",
      required: ["title"],
      properties: {
        title: { type: "string", minLength: 1, maxLength: 40 },
        status: { enum: ["draft", "published"] },
        views: { type: "integer", minimum: 0 },
        author: text,
      },
    },
  },
} satisfies Readonly<Record<string, GuardedDeclaration>>;

/** The title of an article of `seeds`, by its number. */
export function titleAt(n: number): string {
  return `Article ${String(n).padStart(3, "0")}`;
}

/** Two authors, and articles with the ids `a000`, `a001` and so on. Their views fall as their titles rise. */
export function seeds(count: number): NonNullable<ServiceOptions["seeds"]> {
  return {
    authors: [
      { id: "ada", name: "Ada Byron" },
      { id: "bob", name: "Bob Kahn" },
    ],
    articles: Array.from({ length: count }, (_, n) => ({
      id: `a${String(n).padStart(3, "0")}`,
      title: titleAt(n),
      status: n % 2 === 0 ? "draft" : "published",
      views: count - n,
      author: n % 2 === 0 ? "ada" : "bob",
    })),
  };
}

/** Starts a service with the console. The test must stop it. */
export function startShop(options: ServiceOptions = {}): Promise<Service> {
  // What drives the browser runs in the thread of the service.
  return startService({ console: true, collections, seeds: seeds(12), ...options });
}

/** How a page is opened. */
interface PageOptions {
  width?: number;
  scheme?: "light" | "dark";
  /** The statuses of refused requests that the browser can log. @default none */
  refused?: readonly number[];
}

/**
 * Opens the console at a fragment, and closes it after the steps. Fails if the page had an error, or if its policy refused
 * something. A failed test leaves a picture.
 */
export async function inConsole(
  service: Pick<Service, "origin">,
  fragment: string,
  steps: (page: Page) => Promise<void>,
  { width = 1_440, scheme = "light", refused = [] }: PageOptions = {},
): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const { errors } = watchPage(page);
  try {
    await page.goto(`${service.origin}/${fragment}`);
    await steps(page);
    const logged = refused.map((status) => `status of ${status}`);
    assert.deepEqual(
      errors.filter((error) => !logged.some((each) => error.includes(each))),
      [],
    );
  } catch (error) {
    await page.screenshot({ path: join(picturesFolder, `console-failed-${process.pid}.png`) });
    throw error;
  } finally {
    await context.close();
  }
}

/** The rows that are in the page. */
export function rows(page: Page): Locator {
  return page.locator("tbody tr[id^=row-]");
}

/** The row of a resource, by the text of one of its cells. */
export function rowOf(page: Page, cell: string): Locator {
  return rows(page).filter({ has: page.getByText(cell, { exact: true }) });
}

/** The texts of a column, in the rows that are in the page. */
export function column(page: Page, name: string): Promise<string[]> {
  return page.evaluate(`(() => {
    const headings = [...document.querySelectorAll("thead th")];
    const at = headings.findIndex((each) => each.querySelector(".name")?.textContent === ${JSON.stringify(name)});
    return [...document.querySelectorAll("tbody tr[id^=row-]")].map((row) => row.cells[at].innerText.trim());
  })()`);
}

/** Waits until a column has these texts in its first rows. */
export async function columnBegins(page: Page, name: string, first: readonly string[]): Promise<void> {
  let last: string[] = [];
  await until(`the column ${name} begins with ${first.join(", ")}`, async () => {
    last = (await column(page, name)).slice(0, first.length);
    return JSON.stringify(last) === JSON.stringify(first);
  }).catch((error: Error) => assert.deepEqual(last, first, error.message));
}

/** Waits until the table has exactly this number of rows. For short lists: a long one has only some rows in the page. */
export async function rowCount(page: Page, count: number): Promise<void> {
  await until(`the table has ${count} rows`, async () => (await rows(page).count()) === count);
}

/** The headings of the columns, in their order. */
export function headings(page: Page): Promise<string[]> {
  return page.locator("thead th .name").allInnerTexts();
}

/** Waits until the address of the page ends like this. */
export function addressEnds(page: Page, end: string): Promise<void> {
  const isThere = () => decodeURIComponent(page.url()).endsWith(end);
  return until(`the address ends with ${end}`, isThere).catch((error: Error) => {
    throw new Error(`${error.message} It is ${page.url()}`);
  });
}

/** The panel of the open resource. */
export function panelOf(page: Page): Locator {
  return page.locator(".panel");
}

/** The input of an attribute in the open panel. */
export function field(page: Page, name: string): Locator {
  return panelOf(page)
    .locator(".field")
    .filter({ has: page.locator(".name .text").getByText(name, { exact: true }) })
    .locator("input, textarea")
    .first();
}

/** Signs in, from a page that has a button for it. */
export async function signIn(page: Page, credential: string): Promise<void> {
  await page.getByRole("button", { name: "Sign in" }).first().click();
  await page.getByLabel("API key or token", { exact: true }).fill(credential);
  await page.getByRole("button", { name: "Sign in" }).last().click();
}

/** Presses a button of the open dialog. */
export function pressInDialog(page: Page, name: string): Promise<void> {
  return page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
}

/** Changes an article as another client does. */
export async function changeAs(service: Service, path: string, attributes: object): Promise<void> {
  const { status, text: body } = await service.send({
    method: "PATCH",
    path: `/api/v1/${path}`,
    headers: { "Content-Type": "application/merge-patch+json", "If-Match": "*" },
    body: JSON.stringify(attributes),
  });
  assert.ok(status < 300, body);
}
