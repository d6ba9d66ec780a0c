/**
 * What a page shows of a service:
 *
 * | block of code | what it is |
 * |---|---|
 * | `{ "collections": { … } }` or `export default …` | the configuration |
 * | `ndjson` | the resources that exist before the first request |
 * | begins with a method and a path | a request. With `http queryMs=1`, it goes to another service, with this limit |
 * | begins with `HTTP/1.1 200 OK` or `200`, or is `json`, after a request | the response to it. It can follow the request in one block |
 */
import assert from "node:assert/strict";
import type { ServiceOptions } from "../http/service.ts";
import { type Block, blockLike, blocksOf, type Page } from "./markdown.ts";

/** The first line, the headers and the body of a message. */
export interface Message {
  first: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A request of a page, and the response that the page shows. */
export interface Example {
  place: string;
  request: Message;
  response: Message | undefined;
  /** The limits of the other service that receives it. */
  limits: Record<string, number>;
}

/** The request of a response that stands alone on its page, and a pattern of the block of the response. */
export type Alone = readonly [request: string, response: RegExp];

const isRequest = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|QUERY|OPTIONS) \//;
const isResponse = /^(?:HTTP\/1\.1 )?\d{3}\b/;

/** The examples of a page, in its order. */
export function examplesOf(page: Page, requests: readonly Alone[] = []): Example[] {
  const alone = requests.map(([request, pattern]) => ({ request, block: blockLike(page, pattern) }));
  const blocks = blocksOf(page);
  return blocks.flatMap((block, n): Example[] => {
    const known = alone.find(({ block: { place } }) => place === block.place);
    if (known !== undefined) return [exampleOf(block, known.request, block.text)];
    if (!isRequest.test(block.text)) {
      const isShown = isResponse.test(block.text) && isRequest.test(blocks[n - 1]?.text ?? "");
      assert.ok(isShown || block.language !== "http", `${block.place}: neither a request nor its response`);
      return [];
    }
    const [request = "", response] = block.text.split(/\n(?=HTTP\/1\.1 )/);
    const next = blocks[n + 1];
    const isShown = next !== undefined && (isResponse.test(next.text) || next.language === "json");
    return [exampleOf(block, request, response ?? (isShown ? next.text : undefined))];
  });
}

function exampleOf({ place, about }: Block, request: string, response: string | undefined): Example {
  const limits = Array.from(about.matchAll(/(\w+)=(\d+)/g), ([, name, value]) => [name, Number(value)]);
  return {
    place,
    request: messageOf(request),
    response: response === undefined ? undefined : messageOf(response),
    limits: Object.fromEntries(limits),
  };
}

/** A value that is too long for a line continues, indented, on the next line. A body can stand alone. */
function messageOf(text: string): Message {
  if (/^[[{]/.test(text)) return { first: "", headers: {}, body: text };
  const [head = "", ...rest] = text.split("\n\n");
  const [first = "", ...lines] = head.trimEnd().replaceAll(/\n +/g, " ").split("\n");
  const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2));
  return {
    first: first.replace(/^HTTP\/1\.1 | HTTP\/1\.1$/, ""),
    headers: Object.fromEntries(headers),
    body: rest.length === 0 ? undefined : rest.join("\n\n"),
  };
}

/** The options of the one configuration of these pages; none if they have no configuration. */
export function configurationOf(pages: readonly Page[]): ServiceOptions {
  const found = pages
    .flatMap(blocksOf)
    .filter(({ text }) => /^\{\s*"collections": \{|^export default /.test(text));
  assert.ok(found.length < 2, `${found.length} configurations on one page`);
  const { text = "{}", language } = found[0] ?? {};
  if (language !== "js") return JSON.parse(text) as ServiceOptions;
  const read = new Function("defineConfig", text.replace("export default", "return"));
  return read((config: unknown) => config) as ServiceOptions;
}

/** The resources of all `ndjson` blocks. */
export function resourcesOf(pages: readonly Page[]): Record<string, unknown>[] {
  const lines = pages.flatMap(blocksOf).filter(({ language }) => language === "ndjson");
  return lines.flatMap(({ text }) => text.split("\n")).map((line) => JSON.parse(line));
}
