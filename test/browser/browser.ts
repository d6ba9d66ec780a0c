/** A real browser from npm, for tests of pages. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as engine, type Page } from "playwright-core";

/** Where pictures of pages go. */
export const picturesFolder = "test-results";

/** How long a browser may take for one step, in milliseconds: a busy machine takes its time over two megabytes of script. */
export const patienceMs = 120_000;

/** A browser, or why there is none: the package may lack a shared library of the system. */
export async function openBrowser(): Promise<{ browser: Browser } | { why: string }> {
  mkdirSync(picturesFolder, { recursive: true });
  const executablePath = await unpackBrowser();
  // As root there is no sandbox; the pages are our own. The package's other flags would let pages load anything.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  try {
    return { browser: await engine.launch({ executablePath, args, timeout: patienceMs }) };
  } catch (error) {
    const libraries = "on Debian: apt-get install libnss3 libnspr4";
    return { why: `needs a browser that starts (${libraries}): ${String(error).split("\n")[0]}` };
  }
}

/**
 * Unpacks the browser once for each version of the package, and gives where its program is. Several files of tests may do so
 * at the same time: each unpacks into a folder of its own, and the first one that is done gives it its name.
 */
async function unpackBrowser(): Promise<string> {
  const about = new URL("../package.json", import.meta.resolve("@sparticuz/chromium"));
  const { version } = JSON.parse(readFileSync(about, "utf8")) as { version: string };
  const cache = join(import.meta.dirname, "..", "..", "node_modules", ".cache");
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return join(folder, "chromium");
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  await unpackInto(own);
  try {
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(own, { recursive: true }); // somebody else was first
  }
  return join(folder, "chromium");
}

/** The package unpacks into the folder for temporary files and nowhere else. */
async function unpackInto(folder: string): Promise<void> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
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
