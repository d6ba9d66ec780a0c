/** Walks through lists of several pages. */
import assert from "node:assert/strict";
import { links } from "./check.ts";
import type { Answer } from "./service.ts";

type Send = (request: { path: string }) => Promise<Answer>;

/** How to walk: along which links, and through how many pages at most. */
interface Walk {
  relation?: "next" | "prev";
  most?: number;
}

/** The pages of a list from a path to the end, along the `Link` of each. Each is a 200. Throws if the list does not end. */
export async function* pagesFrom(
  send: Send,
  path: string,
  { relation = "next", most = 1_000 }: Walk = {},
): AsyncGenerator<Answer> {
  let pages = 0;
  for (let next: string | undefined = path; next !== undefined; pages++) {
    assert.ok(pages < most, `${path} ends`);
    const answer: Answer = await send({ path: next });
    assert.equal(answer.status, 200, `${next}: ${answer.text.slice(0, 300)}`);
    yield answer;
    next = links(answer)[relation];
  }
}

/** These pages, in order. */
export async function allPages(send: Send, path: string, walk?: Walk): Promise<Answer[]> {
  const pages: Answer[] = [];
  for await (const page of pagesFrom(send, path, walk)) pages.push(page);
  return pages;
}

/** The items on these pages, in order. */
export async function itemsFrom<Item>(send: Send, path: string): Promise<Item[]> {
  return (await allPages(send, path)).flatMap(({ json }) => json as Item[]);
}
