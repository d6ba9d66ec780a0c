/** What a request for a list comes to. */
import type { Collection } from "../../collection/collection.ts";
import type { ListRequest } from "../../query/list.ts";
import type { ListType } from "../negotiation/accept.ts";

/** A list that is asked for. */
export interface Listing {
  collection: Collection;
  path: string;
  asked: ListRequest;
  /** The query string with which GET gives this very list; `undefined` where its URL would be too long. */
  query: string | undefined;
  /** The media type of the answer. */
  type: ListType;
  /** Tells lists apart that QUERY asks for at one URL. */
  contentHash: string | undefined;
}
