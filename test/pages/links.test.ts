/** Every link and image of the pages leads somewhere. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { anchorsOf, lineOf, nodesOf, type Page, pageFiles, parsePage, readPage } from "./markdown.ts";

const pages = pageFiles.map(readPage);

test("every link and image between the pages leads to a file, and to a heading in it", () => {
  assert.ok(pages.flatMap(targetsOf).length > 100);
  assert.deepEqual(pages.flatMap(faultsOf), []);
});

test("broken links are found in each form that Markdown has", () => {
  const broken = [
    "[a](nothing.md)",
    "[a](../README.md)",
    "[a](#nothing)",
    "[a](docs/reference/requests.md#nothing)",
    "![a](docs/images/nothing.png)",
    "[a][b]\n\n[b]: nothing.md",
    "[a][missing]\n",
    '<img src="nothing.png">',
    "[a](http:/example.org)",
    "[a](https://example)",
    "[a](ftp://example.org/)",
  ];
  const found = broken.map((text) => faultsOf(parsePage("README.md", text)).length);
  assert.deepEqual(
    found,
    broken.map(() => 1),
  );
});

test("sound links are not complained of", () => {
  const sound =
    "# A `b` c\n\n# A b c\n\n[a](#a-b-c-1) [b](docs/reference/requests.md) [c](https://example.org/x?y#z) [d](http://localhost:3000/docs) [e](mailto:a@example.org)";
  assert.deepEqual(faultsOf(parsePage("README.md", sound)), []);
});

interface Target {
  place: string;
  url: string;
}

/** The targets of the links, images and elements of a page. */
function targetsOf(page: Page): Target[] {
  return nodesOf(page, "link", "image", "definition", "html").flatMap((node) => {
    const urls =
      node.type === "html"
        ? Array.from(node.value.matchAll(/\b(?:src|href)="([^"]*)"/g), ([, url = ""]) => url)
        : [node.url];
    return urls.map((url) => ({ place: `${page.file}:${lineOf(node)}`, url }));
  });
}

function faultsOf(page: Page): string[] {
  const broken = targetsOf(page).flatMap(({ place, url }) => {
    const fault = /^[a-z][a-z0-9+.-]*:/i.test(url) ? faultOutside(url) : faultInside(page, url);
    return fault === undefined ? [] : [`${place}: ${url} ${fault}`];
  });
  return [...broken, ...undefinedReferences(page)];
}

/** Markdown takes `[text][name]` without a definition for text. */
function undefinedReferences(page: Page): string[] {
  return nodesOf(page, "text").flatMap((node) =>
    Array.from(
      node.value.matchAll(/\]\[[\w -]+\]/g),
      ([text]) => `${page.file}:${lineOf(node)}: ${text} is not defined`,
    ),
  );
}

function faultOutside(url: string): string | undefined {
  const { protocol, hostname, href } = URL.parse(url) ?? {};
  if (protocol === "mailto:") return /^mailto:[^@\s]+@[^@\s]+$/.test(url) ? undefined : "is no address";
  if (protocol !== "https:" && protocol !== "http:") return "is neither http nor https";
  const isHost = hostname === "localhost" || /[^.]\.[a-z]{2,}$|^[\d.]+$/.test(hostname ?? "");
  return isHost && url.includes("://") && href !== undefined ? undefined : "is no address of the web";
}

function faultInside(page: Page, url: string): string | undefined {
  const [path = "", heading] = decodeURI(url).split("#");
  const file = path === "" ? page.file : join(dirname(page.file), path);
  if (file.startsWith("..") || !existsSync(file)) return "does not exist";
  if (heading === undefined) return undefined;
  const target = path === "" ? page : readPage(file);
  return anchorsOf(target).includes(heading) ? undefined : "is no heading";
}
