/** Makes a table of a page: finds the columns first, because the header names them, and makes the lines while it sends them. */
import { Problem } from "../../errors.ts";
import { inBody, inQuery, violationAt } from "../../query/faults.ts";
import type { HttpRequest, StreamedBody } from "../message.ts";
import { createPauses } from "../wire/turns.ts";
import { Columns, parseResource, tablePieces } from "./csv.ts";

/**
 * The most cells of one table. Even an empty cell costs time and at least one byte. Their number is the number of
 * resources times the number of their different attributes, so a table may be a thousand times as long as its page.
 */
export const maxCells = 200_000;

/**
 * The content of a page's table. The columns are `id` and then `fields`; without fields, all attributes of the resources,
 * in the order of appearance. Throws INVALID_PARAMETER if the table has more than `maxCells` cells.
 */
export async function tableOf(
  texts: readonly string[],
  fields: readonly string[] | undefined,
  request: HttpRequest,
): Promise<StreamedBody> {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const columns = fields === undefined ? await findColumns(texts, request) : new Columns(fields);
  requireFewCells(columns, texts, request);
  return { pieces: tablePieces(columns.names, texts), heldBytes: bytes + columns.size * texts.length };
}

async function findColumns(texts: readonly string[], request: HttpRequest): Promise<Columns> {
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

function requireFewCells({ size }: Columns, { length }: readonly string[], { method }: HttpRequest): void {
  if (size * length <= maxCells) return;
  const most = maxCells.toLocaleString("en");
  const detail = `A page of CSV has at most ${most} cells. This page has ${length} resources with at least ${size} different attributes. Name the attributes that you need in "fields", or request fewer resources with "limit".`;
  const place = method === "QUERY" ? inBody("fields") : inQuery("fields");
  throw new Problem("INVALID_PARAMETER", detail, {
    violations: [violationAt(place, "cells", "must name the attributes that you need")],
  });
}
