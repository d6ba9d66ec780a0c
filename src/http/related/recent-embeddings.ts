/** Keeps composed pages with related resources for the next requests, until one of their collections changes. */
import { LRUCache } from "lru-cache";
import type { Page } from "../../store/port/page.ts";
import type { Validators } from "../protocol/conditional.ts";
import type { Service } from "../service.ts";

/** A page with related resources. */
export interface EmbeddedPage {
  page: Page;
  /** The resources as they are sent, or one text with all of them. */
  texts: readonly string[];
  validators: Validators;
}

interface Kept {
  embedded: EmbeddedPage;
  /** The page of the store without related resources. */
  source: Page;
  /** The state of the related collections before their resources were read. */
  state: string;
}

/** The texts of all kept pages, and of the longest one, in characters. */
const maxText = { all: 4 * 1024 * 1024, one: 128 * 1024 };

/** What makes two embedded pages the same. */
export interface EmbeddedPageKey {
  /** The page of the store. A store that keeps pages in memory returns the same object while the page is current. */
  source: Page;
  /** The request, and what its caller sees of each collection. */
  view: string;
  /** The names of the related collections. */
  collections: readonly string[];
}

/** The kept pages of each service. */
const pagesOf = new WeakMap<Service, KeptPages>();

/** The kept page, if its collections have not changed. Otherwise the result of `embed`. */
export async function keptOr(
  service: Service,
  { source, view, collections }: EmbeddedPageKey,
  embed: () => Promise<EmbeddedPage>,
): Promise<EmbeddedPage> {
  const pages = pagesOf.get(service) ?? new KeptPages();
  pagesOf.set(service, pages);
  if (pages.isFirstUse(source)) return embed();
  // Read before the resources: a change in between makes the kept page old, and never too new.
  const state = JSON.stringify([...(await service.store.logHeads(collections))]);
  return pages.find(view, { source, state }) ?? pages.keep(view, { source, state, embedded: await embed() });
}

class KeptPages {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: maxText.all,
    sizeCalculation: ({ embedded }, view) => sizeOf(embedded) + view.length,
  });
  readonly #used = new WeakSet<Page>();

  /** Whether it is the first request for a page. Its result is not kept, because most pages are requested only once. */
  isFirstUse(source: Page): boolean {
    if (this.#used.has(source)) return false;
    this.#used.add(source);
    return true;
  }

  find(view: string, { source, state }: Omit<Kept, "embedded">): EmbeddedPage | undefined {
    const kept = this.#kept.get(view);
    return kept?.source === source && kept.state === state ? kept.embedded : undefined;
  }

  /** Keeps the page, unless it is long. */
  keep(view: string, { embedded, ...current }: Kept): EmbeddedPage {
    if (sizeOf(embedded) > maxText.one) return embedded;
    const texts = embedded.texts.length === 0 ? [] : [embedded.texts.join(",")];
    this.#kept.set(view, { ...current, embedded: { ...embedded, texts } });
    return embedded;
  }
}

function sizeOf({ texts }: EmbeddedPage): number {
  return texts.reduce((sum, text) => sum + text.length, 1);
}
