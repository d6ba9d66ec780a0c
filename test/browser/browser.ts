/** A real browser from npm, for tests of pages. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as engine, type Page } from "playwright-core";

export type { Browser, Page } from "playwright-core";

/** The folder for pictures of pages. */
export const picturesFolder = "test-results";

/** The time limit for one step of a browser, in milliseconds. A busy machine needs long for two megabytes of script. */
export const patienceMs = 120_000;

/** Opens a browser, or returns the reason why it cannot: the system may lack a shared library. */
export async function openBrowser(): Promise<{ browser: Browser } | { why: string }> {
  mkdirSync(picturesFolder, { recursive: true });
  const executablePath = await unpackBrowser();
  // A root user cannot use the sandbox, and the pages are our own. The other flags of the package would allow pages to load anything.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  try {
    return { browser: await engine.launch({ executablePath, args, timeout: patienceMs }) };
  } catch (error) {
    const libraries = "on Debian: apt-get install libnss3 libnspr4";
    return { why: `needs a browser that starts (${libraries}): ${String(error).split("\n")[0]}` };
  }
}

/**
 * Unpacks the browser once for each version of the package, and returns the path of its program. Several test files can do this
 * at the same time: each unpacks into its own folder, and the first one to finish renames it.
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
    rmSync(own, { recursive: true }); // another test file was first
  }
  return join(folder, "chromium");
}

/** Unpacks into a folder. The package itself can only unpack into the folder for temporary files. */
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

/** The requests and errors of a page. */
export interface Seen {
  /** The addresses of all requests. */
  requests: string[];
  /** Errors on the console with the address of what failed, including refusals by the Content-Security-Policy, and uncaught errors. */
  errors: string[];
}

/** Watches a page from now on. */
export function watchPage(page: Page): Seen {
  const seen: Seen = { requests: [], errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    seen.errors.push(`${message.text()} ${message.location().url}`);
  });
  return seen;
}

/** A device that makes and uses passkeys without asking. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
