/** The content of a page: the attributes that the response has, in the format that the client asked for. */

import { pickFields } from "../../collection/resource.ts";
import { hidesAny, visibleText } from "../../collection/visibility.ts";
import { Problem } from "../../errors.ts";
import { inBody, inQuery, violationAt } from "../../query/violations.ts";
import type { Page } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses } from "../admission/turns.ts";
import type { Listing } from "../operations/operation.ts";
import type { ListType } from "../protocol/accept.ts";
import type { HttpRequest, StreamedBody } from "../protocol/message.ts";
import { Columns, parseResource, tablePieces } from "./csv.ts";

/** Whether the response needs only some attributes of the resources. */
export function needsLess({ asked, collection }: Listing): boolean {
  return asked.fields !== undefined || hidesAny(collection.visibility);
}

/** The resources with the attributes that the response, its links and its related resources need. */
export async function neededPart(
  items: readonly Stored[],
  { asked, collection }: Listing,
): Promise<Stored[]> {
  const { fields, sort, embeds } = asked;
  const paths = [...sort.map(({ path }) => path), ...embeds.map(({ relation }) => relation.path)];
  const names = fields && new Set([...fields, ...paths.map(([name]) => name)]);
  const pause = createPauses();
  const needed: Stored[] = [];
  for (const each of items) {
    const text =
      names === undefined ? visibleText(each.text, collection.visibility) : pickFields(each.text, names);
    needed.push({ ...each, text });
    await pause(each.text.length);
  }
  return needed;
}

/** The JSON texts of a page's resources, with the attributes that the client asked for and can see. */
export async function textsOf(page: Page, listing: Listing): Promise<readonly string[]> {
  if (!needsLess(listing)) return page.items.map(({ text }) => text);
  const fields = listing.asked.fields && new Set(listing.asked.fields); // never names a hidden attribute
  const { visibility } = listing.collection;
  const pause = createPauses();
  const texts: string[] = [];
  for (const { text } of page.items) {
    texts.push(fields === undefined ? visibleText(text, visibility) : pickFields(text, fields));
    await pause(text.length);
  }
  return texts;
}

/** The part of a request that a table needs. */
type Client = Pick<HttpRequest, "method" | "socket">;

/** The content of a page in a format other than JSON, whose content `response.ts` makes: it can be an envelope. */
export function contentOf(
  texts: readonly string[],
  { type, fields }: { type: Exclude<ListType, "application/json">; fields: readonly string[] | undefined },
  request: Client,
): string | Promise<StreamedBody> {
  return type === "text/csv" ? tableOf(texts, fields, request) : texts.map((text) => `${text}\n`).join("");
}

/**
 * The most cells of one table. Even an empty cell costs time and at least one byte. Their number is the number of
 * resources times the number of their different attributes, so a table may be a thousand times as long as its page.
 */
const maxCells = 200_000;

/**
 * The content of a page's table. The columns are `id` and then `fields`; without fields, all attributes of the resources,
 * in the order of appearance. Throws INVALID_PARAMETER if the table has more than `maxCells` cells.
 */
async function tableOf(
  texts: readonly string[],
  fields: readonly string[] | undefined,
  request: Client,
): Promise<StreamedBody> {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const columns = fields === undefined ? await findColumns(texts, request) : new Columns(fields);
  requireFewCells(columns, texts, request);
  return { pieces: tablePieces(columns.names, texts), heldBytes: bytes + columns.size * texts.length };
}

async function findColumns(texts: readonly string[], request: Client): Promise<Columns> {
  const columns = new Columns();
  const pause = createPauses();
  for (const text of texts) {
    columns.add(parseResource(text));
    requireFewCells(columns, texts, request);
    await pause(text.length);
    if (request.socket.destroyed) break; // the client has gone
  }
  return columns;
}

function requireFewCells({ size }: Columns, { length }: readonly string[], { method }: Client): void {
  if (size * length <= maxCells) return;
  const most = maxCells.toLocaleString("en");
  const detail = `A page of CSV has at most ${most} cells. This page has ${length} resources with at least ${size} different attributes. Name the attributes that you need in "fields", or request fewer resources with "limit".`;
  const place = method === "QUERY" ? inBody("fields") : inQuery("fields");
  throw new Problem("INVALID_PARAMETER", detail, {
    violations: [violationAt(place, "cells", "must name the attributes that you need")],
  });
}
