/**
 * Cursors: where the next page of a list begins, as a token that clients carry and never read.
 *
 * A cursor holds a position and the list that it belongs to. It is stateless and does not expire, and gives no
 * rights. The checksum is not a secret: it tells a damaged cursor from a whole one.
 */
import { createHash } from "node:crypto";
import { Problem } from "../errors.ts";

const checksumBytes = 8;

/** Spells the id after which the next page begins. `list` names the list: its collection and, later, its filter and sort. */
export function formatCursor(list: string, id: string): string {
  const payload = Buffer.from(id);
  return Buffer.concat([checksum(list, payload), payload]).toString("base64url");
}

/**
 * Reads a cursor that `formatCursor` made for the same list. Throws INVALID_CURSOR. Anybody can forge one, and gets no
 * more than a page that begins elsewhere.
 */
export function parseCursor(list: string, cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.subarray(checksumBytes);
  // base64url's last character has spare bits, and Buffer skips characters that it does not know.
  const isWhole = bytes.toString("base64url") === cursor && bytes.length > checksumBytes;
  if (!isWhole || !checksum(list, payload).equals(bytes.subarray(0, checksumBytes))) throw invalidCursor();
  return payload.toString();
}

function checksum(list: string, payload: Buffer): Buffer {
  return createHash("sha256").update(`${list}\0`).update(payload).digest().subarray(0, checksumBytes);
}

function invalidCursor(): Problem {
  return new Problem(
    "INVALID_CURSOR",
    "The cursor is not one that this list gave out. Follow the list's own links.",
    {
      violations: [
        {
          in: "query",
          name: "cursor",
          code: "cursor",
          detail: 'use the cursor of a "next" link of this very list',
        },
      ],
    },
  );
}
