/** Every link and image of the pages leads somewhere, and every page of the documentation can be reached from its first one. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { closest } from "fastest-levenshtein";
import { lineOf, nodesOf, type Page } from "../markdown.ts";

/** The target of a link, an image or an element. */
export interface Target {
  place: string;
  url: string;
}

/** The names of the headings of a page; `undefined` if the file is no page. */
export type Anchors = (file: string) => readonly string[] | undefined;

/** The targets of a page. */
export function targetsOf(page: Page): Target[] {
  return nodesOf(page, "link", "image", "definition", "html").flatMap((node) => {
    const urls =
      node.type === "html"
        ? Array.from(node.value.matchAll(/\b(?:src|href)="([^"]*)"/g), ([, url = ""]) => url)
        : [node.url];
    return urls.map((url) => ({ place: `${page.file}:${lineOf(node)}`, url }));
  });
}

/** Markdown takes `[text][name]` without a definition for text. */
export function undefinedReferences(page: Page): string[] {
  return nodesOf(page, "text").flatMap((node) =>
    Array.from(
      node.value.matchAll(/\]\[[\w -]+\]/g),
      ([text]) => `${page.file}:${lineOf(node)}: ${text} is not defined: write [name]: address below`,
    ),
  );
}

/** What is wrong with the targets of a page. */
export function faultsOfTargets(file: string, targets: readonly Target[], anchors: Anchors): string[] {
  return targets.flatMap(({ place, url }) => {
    const fault = isOutside(url) ? faultOutside(url) : faultInside(file, url, anchors);
    return fault === undefined ? [] : [`${place}: ${url} ${fault}`];
  });
}

/** The pages below a folder to which no way of links leads from the first one. */
export function unreachable(
  first: string,
  folder: string,
  targetsOfPages: ReadonlyMap<string, readonly Target[]>,
): string[] {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file) || !targetsOfPages.has(file)) return;
    reached.add(file);
    for (const { url } of targetsOfPages.get(file) ?? [])
      if (!isOutside(url)) visit(join(dirname(file), url.split("#")[0] ?? ""));
  };
  visit(first);
  return [...targetsOfPages.keys()]
    .filter((file) => file.startsWith(`${folder}/`) && !reached.has(file))
    .map((file) => `${file}:1: cannot be reached from ${first}: link to it`);
}

const isOutside = (url: string) => /^[a-z][a-z0-9+.-]*:/i.test(url);

function faultOutside(url: string): string | undefined {
  const { protocol, hostname, href } = URL.parse(url) ?? {};
  if (protocol === "mailto:") return /^mailto:[^@\s]+@[^@\s]+$/.test(url) ? undefined : "is no address";
  if (protocol !== "https:" && protocol !== "http:") return "is neither http nor https";
  const isHost = hostname === "localhost" || /[^.]\.[a-z]{2,}$|^[\d.]+$/.test(hostname ?? "");
  return isHost && url.includes("://") && href !== undefined ? undefined : "is no address of the web";
}

function faultInside(file: string, url: string, anchors: Anchors): string | undefined {
  const [path = "", heading] = decodeURI(url).split("#");
  const target = path === "" ? file : join(dirname(file), path);
  if (target.startsWith("..") || !existsSync(target))
    return "does not exist: start from the folder of the page";
  if (heading === undefined) return undefined;
  const there = anchors(target) ?? [];
  if (there.includes(heading)) return undefined;
  return there.length === 0 ? "leads to no heading" : `is no heading: perhaps #${closest(heading, there)}`;
}
