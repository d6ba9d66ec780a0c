/**
 * Embeds related resources into the resources of a response: reads them (`levels.ts`) and puts them into the texts
 * (`compose.ts`). Also makes the validators of such a response.
 */
import { hash } from "node:crypto";
import type { Embed } from "../../query/embed-request.ts";
import { lengthOf } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { whileConnected } from "../admission/gone.ts";
import type { Caller } from "../caller/admit.ts";
import type { Validators } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Callers, Data, Surface } from "../service.ts";
import { composeTexts } from "./compose.ts";
import { readLevels } from "./levels.ts";

/** The resources of a response, and their relations. */
export interface Embedding {
  /** The name of their collection. */
  collection: string;
  resources: readonly Stored[];
  /** Their texts, as the caller sees them. */
  shown: readonly string[];
  embeds: readonly Embed[];
}

/**
 * The texts of the resources with related resources. They can be fewer than the resources, but at least one, because the
 * text of a response is limited. Throws QUERY_TOO_EXPENSIVE, and UNAVAILABLE if other requests hold too much memory.
 */
export async function embedInto(
  service: Data & Callers & Surface,
  { caller, request }: { caller: Caller; request: HttpRequest },
  { collection, resources, shown, embeds }: Embedding,
): Promise<readonly string[]> {
  const bytes = lengthOf({ items: resources });
  const levels = await whileConnected(caller, request, (client) =>
    readLevels({ service, caller, request, client, bytes }, embeds, resources),
  );
  const { prefix, limits } = service.settings;
  return composeTexts({ prefix, maxPageSize: limits.page, collection }, resources, { shown, levels });
}

/** The validators of content that depends on several collections: a hash of the content itself. */
export function contentValidators(texts: readonly string[], state: readonly unknown[], tag = ""): Validators {
  // A JSON text has no line breaks, so different texts never have the same hash.
  const content = `${texts.join("\n")}\n${JSON.stringify(state)}`;
  return {
    etag: `W/"e-${hash("sha256", content, "base64url").slice(0, 16)}${tag}"`,
    lastModifiedMs: undefined,
  };
}
