/** The pages of the project, parsed as GitHub parses Markdown. */
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import GithubSlugger from "github-slugger";
import type { Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** A page. */
export interface Page {
  /** Its path from the root of the project. */
  file: string;
  text: string;
  tree: Root;
}

/** A block of code. */
export interface Block {
  /** The file and the line. */
  place: string;
  language: string;
  /** The words after the language. */
  about: string;
  text: string;
}

/** A paragraph, a heading or a cell of a table. */
export interface Prose {
  /** The file and the line. */
  place: string;
  /** The visible text. A `codeMark` replaces each piece of code. */
  text: string;
}

/** What takes the place of code in prose. */
export const codeMark = "□";

const markdownBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));

/** The paths of all pages. */
export const pageFiles: readonly string[] = [
  ...readdirSync(".").filter((name) => name.endsWith(".md")),
  ...markdownBelow("docs"),
  ...markdownBelow("examples"),
  "client/README.md",
  "react-admin/README.md",
  "bench/README.md",
  ...globSync(["src/**/README.md", "console/README.md", "tools/**/README.md"], {
    exclude: ["**/node_modules"],
  }).sort(),
].sort();

const pages = new Map<string, Page>();

/** Reads a page, once. */
export function readPage(file: string): Page {
  const page = pages.get(file) ?? parsePage(file, readFileSync(file, "utf8"));
  pages.set(file, page);
  return page;
}

/** Parses the text of a page. */
export function parsePage(file: string, text: string): Page {
  return {
    file,
    text,
    tree: fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }),
  };
}

/** All nodes of these types, in the order of the page. */
export function nodesOf<Type extends Nodes["type"]>(
  { tree }: Pick<Page, "tree">,
  ...types: Type[]
): Extract<Nodes, { type: Type }>[] {
  const below = (node: Nodes): Nodes[] => [node, ...("children" in node ? node.children.flatMap(below) : [])];
  return below(tree).filter((node): node is Extract<Nodes, { type: Type }> =>
    types.includes(node.type as Type),
  );
}

/** The line of a node, from 1. */
export function lineOf(node: Nodes): number {
  return node.position?.start.line ?? 0;
}

/** The blocks of code of a page, in its order. */
export function blocksOf(page: Page): Block[] {
  return nodesOf(page, "code").map((node) => ({
    place: `${page.file}:${lineOf(node)}`,
    language: node.lang ?? "",
    about: node.meta ?? "",
    text: node.value,
  }));
}

/** The only block of a page that matches. Throws if there is no such block, or more than one. */
export function blockLike(page: Page, pattern: RegExp): Block {
  const [block, ...others] = blocksOf(page).filter(({ text }) => pattern.test(text));
  if (block === undefined || others.length > 0)
    throw new Error(`${page.file} has ${others.length + Number(block !== undefined)} blocks like ${pattern}`);
  return block;
}

/** The tables of a page, each as its rows with the head first. A cell is as it is written. */
export function tablesOf({ text, tree }: Page): string[][][] {
  return nodesOf({ tree }, "table").map((table) =>
    table.children.map((row) =>
      row.children.map(({ children }) => {
        const [start, end] = [children[0], children.at(-1)].map((each) => each?.position);
        return text.slice(start?.start.offset, end?.end.offset ?? 0).replaceAll("\\|", "|");
      }),
    ),
  );
}

/** The rows of all tables with this head. Throws if there is no such row. */
export function tableOf(page: Page, ...head: readonly string[]): string[][] {
  const rows = tablesOf(page).flatMap(([first, ...others]) =>
    first?.join("|") === head.join("|") ? others : [],
  );
  if (rows.length === 0) throw new Error(`${page.file} has no table with the head ${head.join(" | ")}`);
  return rows;
}

/** The pieces of code in a cell. */
export function codesIn(cell = ""): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);
}

/** The prose of a page, in its order. */
export function proseOf(page: Page): Prose[] {
  return nodesOf(page, "paragraph", "heading", "tableCell").map((node) => ({
    place: `${page.file}:${lineOf(node)}`,
    text: textOf(node).replaceAll(/\s+/g, " ").trim(),
  }));
}

/** The names of the headings in links, as GitHub makes them. */
export function anchorsOf(page: Page): string[] {
  const slugger = new GithubSlugger();
  return nodesOf(page, "heading").map((heading) => slugger.slug(textOf(heading, (code) => code)));
}

function textOf(node: Nodes, ofCode = (_code: string) => codeMark): string {
  if (node.type === "text") return node.value;
  if (node.type === "inlineCode") return ofCode(node.value);
  if (node.type === "break") return " ";
  if (node.type === "image") return node.alt ?? "";
  return "children" in node ? node.children.map((child) => textOf(child, ofCode)).join("") : "";
}
