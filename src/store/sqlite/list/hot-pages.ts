/** Pages that were read lately, kept in memory: lists that many ask for cost what a look at the head row does. */
import type { Page } from "../../page.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { Generations } from "../read/generations.ts";
import type { PageQuery } from "./select.ts";

/** A page of more text than this would push too many others out. */
const maxOwnText = 256 * 1024;

/** What a page takes beside the text of its resources, in characters, roughly. */
const overhead = 500;

interface KeptPage {
  page: Page;
  /** With its name, in characters. */
  weight: number;
}

/**
 * Every change of a resource raises its collection's sequence, so a page belongs to one sequence, and under that it is
 * what the file would give.
 */
export class HotPages {
  readonly #pages = new Generations<KeptPage>({
    weight: 2 * 1024 * 1024,
    count: 1_000,
    weigh: ({ weight }) => weight,
  });

  /** The page at a sequence, or what `read` gives. */
  find({ number }: NumberedCollection, query: PageQuery, at: { sequence: number; read: () => Page }): Page {
    const name = `${number} ${at.sequence} ${JSON.stringify(query)}`;
    const kept = this.#pages.get(name);
    if (kept !== undefined) return kept.page;
    const page = at.read();
    let weight = name.length + overhead;
    for (const { text } of page.items) weight += text.length;
    if (weight <= maxOwnText) this.#pages.set(name, { page, weight });
    return page;
  }
}
