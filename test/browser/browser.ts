/** A real browser from npm, for tests of pages. */
import { mkdir } from "node:fs/promises";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as engine, type Page } from "playwright-core";

/** Where pictures of pages go. */
export const picturesFolder = "test-results";

/** A browser, or why there is none: the package may lack a shared library of the system. */
export async function openBrowser(): Promise<{ browser: Browser } | { why: string }> {
  try {
    await mkdir(picturesFolder, { recursive: true });
    const executablePath = await chromium.executablePath();
    // As root there is no sandbox; the pages are our own. The package's other flags would let pages load anything.
    const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
    return { browser: await engine.launch({ executablePath, args }) };
  } catch (error) {
    return { why: `the browser does not start here: ${String(error).split("\n")[0]}` };
  }
}

/** What a page did that nobody asked it for. */
export interface Seen {
  /** The addresses of all requests. */
  requests: string[];
  /** Errors on the console, refusals by the Content-Security-Policy among them, and errors that nobody caught. */
  errors: string[];
}

/** Watches a page from now on. */
export function watchPage(page: Page): Seen {
  const seen: Seen = { requests: [], errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") seen.errors.push(message.text());
  });
  return seen;
}
