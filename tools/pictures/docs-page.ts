/** The picture of the page at /docs. */
import { type Browser, patienceMs } from "../../test/browser/browser.ts";
import { type Service, startService } from "../../test/http/service.ts";

const text = { type: "string" };

const schema = {
  title: "Article",
  description: "What the journal has published since 1951.",
  type: "object",
  required: ["title", "year"],
  properties: {
    title: { ...text, minLength: 1, maxLength: 200, description: "The headline." },
    year: { type: "integer", minimum: 1951, description: "The year of publication." },
    status: { enum: ["draft", "published"], default: "draft", description: "Only editors publish." },
    author: { type: "object", required: ["name"], properties: { name: text } },
    tags: { type: "array", items: text },
  },
};

async function takePicture(browser: Browser, service: Service): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 820 }, colorScheme: "light" });
  page.setDefaultTimeout(patienceMs);
  // The examples on the page show the default port.
  const shown = "http://127.0.0.1:3000";
  await page.route(`${shown}/**`, async (route) => {
    const url = route.request().url().replace(shown, service.origin);
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto(`${shown}/docs#tag/articles/POST/api/v1/articles`);
  const operation = page.locator('section[id$="/POST/api/v1/articles"]');
  await operation.getByText("The Sea Around Us").first().waitFor();
  // The sections above the operation are rendered later and move it.
  await page.waitForLoadState("networkidle");
  await operation.evaluate("(section) => section.scrollIntoView()");
  await page.screenshot({ path: "docs/images/docs.png" });
  await page.close();
}

/** Makes docs/images/docs.png: the page at /docs of a small journal. */
export async function takeDocsPage(browser: Browser): Promise<void> {
  const service = await startService({
    info: { title: "The journal", version: "2.4.0" },
    collections: { articles: { schema }, authors: {}, issues: {} },
    probe: { standstillMs: Number.POSITIVE_INFINITY },
  });
  await takePicture(browser, service).finally(() => service.stop());
}
