/** The content of a page: the attributes that the response has, in the format that the client asked for. */

import { type Fields, hidesAny, partOf } from "../../collection/visibility.ts";
import { Problem } from "../../errors.ts";
import { ownSort } from "../../query/sort.ts";
import { inBody, inQuery, violationAt } from "../../query/violations.ts";
import type { Page } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses } from "../admission/turns.ts";
import type { Listing } from "../operations/operation.ts";
import type { ListType } from "../protocol/accept.ts";
import type { HttpRequest, StreamedBody } from "../protocol/message.ts";
import { Columns, parseResource, type TableOptions, tablePieces } from "./csv.ts";

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
  const paths = [...ownSort(sort).map(({ path }) => path), ...embeds.map(({ relation }) => relation.path)];
  const used = new Set(paths.map(([name]) => name));
  const part = fields && { ...fields, names: namesWith(fields, used) };
  const pause = createPauses();
  const needed: Stored[] = [];
  for (const each of items) {
    needed.push({ ...each, text: partOf(each.text, part, collection.visibility) });
    await pause(each.text.length);
  }
  return needed;
}

/** The names of `fields`, so that the resources also have the attributes in `used`. */
function namesWith({ kind, names }: Fields, used: ReadonlySet<string>): ReadonlySet<string> {
  return kind === "only"
    ? new Set([...names, ...used])
    : new Set([...names].filter((name) => !used.has(name)));
}

/** The JSON texts of a page's resources, with the attributes that the client asked for and can see. */
export async function textsOf(page: Page, listing: Listing): Promise<readonly string[]> {
  if (!needsLess(listing)) return page.items.map(({ text }) => text);
  const { asked, collection } = listing;
  const pause = createPauses();
  const texts: string[] = [];
  for (const { text } of page.items) {
    texts.push(partOf(text, asked.fields, collection.visibility));
    await pause(text.length);
  }
  return texts;
}

/** The part of a request that a table needs. */
type Client = Pick<HttpRequest, "method" | "socket">;

interface ContentOptions extends TableOptions {
  type: Exclude<ListType, "application/json">;
  fields: Fields | undefined;
}

/** The content of a page in a format other than JSON, whose content `response.ts` makes: it can be an envelope. */
export function contentOf(
  texts: readonly string[],
  { type, ...table }: ContentOptions,
  request: Client,
): string | Promise<StreamedBody> {
  return type === "text/csv" ? tableOf(texts, table, request) : texts.map((text) => `${text}\n`).join("");
}

/**
 * The most cells of one table. Even an empty cell costs time and at least one byte. Their number is the number of
 * resources times the number of their different attributes, so a table may be a thousand times as long as its page.
 */
const maxCells = 200_000;

/**
 * The content of a page's table. The columns are `id` and then the named attributes; without names, all attributes of the resources,
 * in the order of appearance. Throws INVALID_PARAMETER if the table has more than `maxCells` cells.
 */
async function tableOf(
  texts: readonly string[],
  { fields, ...options }: Omit<ContentOptions, "type">,
  request: Client,
): Promise<StreamedBody> {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const columns =
    fields?.kind === "only" ? new Columns([...fields.names]) : await findColumns(texts, request);
  requireFewCells(columns, texts, request);
  const pieces = tablePieces(columns.names, texts, options);
  return { pieces, heldBytes: bytes + columns.size * texts.length };
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
