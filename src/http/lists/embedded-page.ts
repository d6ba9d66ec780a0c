/** The page of a list with related resources. Recent ones are kept until a collection changes. */
import type { Collection } from "../../collection/collection.ts";
import type { Embed } from "../../query/embed-request.ts";
import type { Page } from "../../store/port/page.ts";
import type { Caller } from "../caller/admit.ts";
import { guardOf } from "../caller/permission.ts";
import type { Listing } from "../operations/operation.ts";
import { passingValidators } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { contentValidators, embedInto } from "../related/embed.ts";
import { type EmbeddedPage, type EmbeddedPageKey, keptOr } from "../related/recent-embeddings.ts";
import type { Service } from "../service.ts";
import { textsOf } from "./content.ts";
import { tagOf } from "./validators.ts";

type EmbeddedListing = Listing & { caller: Caller };

interface EmbeddedRequest {
  listing: EmbeddedListing;
  request: HttpRequest;
  /** As in `ListScope`. */
  isPassing: boolean;
}

/** The page with related resources. `found` is the page of the store. Throws what `embedInto` throws. */
export function embeddedPage(
  service: Service,
  found: Page,
  { listing, request, isPassing }: EmbeddedRequest,
): Promise<EmbeddedPage> {
  const { asked, query, type } = listing;
  const embed = () => embedIntoPage(service, found, { listing, request, isPassing });
  const isKept = !isPassing && type === "application/json" && query !== undefined && asked.at === undefined;
  return isKept ? keptOr(service, keyOf(service, found, { ...listing, query }), embed) : embed();
}

/** What an embedded page depends on: the request, and what the caller sees of each collection. */
function keyOf(
  service: Service,
  source: Page,
  { asked, collection, query, caller, ...listing }: EmbeddedListing & { query: string },
): EmbeddedPageKey {
  const targets = targetsOf(asked.embeds);
  const views = targets.map((target) => [
    target.name,
    guardOf(service, target, caller).listed,
    service.tags.view(target.visibility),
  ]);
  const view = JSON.stringify([collection.name, query, tagOf(service, { ...listing, collection }), views]);
  return { source, view, collections: [...new Set(targets.map(({ name }) => name))] };
}

function targetsOf(embeds: readonly Embed[]): Collection[] {
  return embeds.flatMap(({ target, embeds: inner }) => [target, ...targetsOf(inner)]);
}

/** Embeds the related resources. The page ends early if their texts are too long for one response. */
async function embedIntoPage(
  service: Service,
  found: Page,
  { listing, request, isPassing }: EmbeddedRequest,
): Promise<EmbeddedPage> {
  const { asked, caller, collection } = listing;
  const texts = await embedInto(
    service,
    { caller, request },
    {
      collection: collection.name,
      resources: found.items,
      shown: await textsOf(found, listing),
      embeds: asked.embeds,
    },
  );
  const page = {
    ...found,
    items: found.items.slice(0, texts.length),
    more: found.more || texts.length < found.items.length,
  };
  const validators = isPassing
    ? passingValidators()
    : contentValidators(texts, [page.more, page.total], tagOf(service, listing));
  return { page, texts, validators };
}
