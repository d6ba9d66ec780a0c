/** The page at /_sign-in in a browser, for the tests of this folder. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { signInPageTexts as texts } from "../../console/src/sign-in/sign-in-page-texts.ts";
import { type People, startPeople } from "../capabilities/users/http/people.ts";
import { type Browser, openBrowser, type Page, patienceMs, picturesFolder, watchPage } from "./browser.ts";

const opened = await openBrowser();
export const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts a service whose profiles need a name. */
export function start(t: TestContext, options: Parameters<typeof startPeople>[1] = {}): Promise<People> {
  return startPeople(t, {
    // What drives the browser runs in the thread of the service.
    console: true,
    collections: {
      users: {
        schema: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string", minLength: 2 }, about: { type: "string" } },
          additionalProperties: false,
        },
        access: { read: "public" },
      },
    },
    ...options,
  });
}

/** The address of a service as its mails have it. */
export function ownOrigin({ service }: People): string {
  return service.origin.replace("127.0.0.1", "localhost");
}

/** A page in a browser of its own, or in that of another page. */
export async function openPage(
  t: TestContext,
  people: People,
  { path = "/_sign-in", beside, options = {} }: { path?: string; beside?: Page; options?: object } = {},
): Promise<{ page: Page; errors: string[] }> {
  const context = beside?.context() ?? (await browser.newContext(options));
  const page = await context.newPage();
  t.after(async () => {
    await page.screenshot({ path: join(picturesFolder, `sign-in-${process.pid}.png`) }).catch(() => {});
    await context.close();
  });
  page.setDefaultTimeout(patienceMs);
  const { errors } = watchPage(page);
  await page.goto(new URL(path, ownOrigin(people)).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return { page, errors };
}

export async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
}

export const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await field(page, texts.email).fill(email);
  await field(page, texts.password).fill(password);
  await press(page, texts.signIn);
}

/** A browser notes a refused request on its console. A console without a session asks whether it has an administrator. */
export function faultsIn(errors: readonly string[]): string[] {
  return errors.filter((error) => !/status of (?:(?:400|401|403)|404.*\/_configuration$)/.test(error));
}
