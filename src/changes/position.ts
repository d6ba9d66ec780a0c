/**
 * Positions in the change log, and ids of events, as texts that clients do not read. They hide the places of changes:
 * a place would reveal how much others write.
 */
import { type Cipheriv, createCipheriv, createDecipheriv, createHmac, hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { LoggedKey } from "../store/port/change-log.ts";
import { type LogPlace, placeBytes, readPlace, writePlace } from "../store/port/log-place.ts";

/** A place in the change log of one collection. */
export interface Mark {
  collection: string;
  sequence: LogPlace;
  /** Identifies the change at this place, as `checkOf` returns it. If the store has none there, it is `noChange`. */
  check: string;
}

/** A place in the change log of each collection of a feed. */
export type Position = readonly Mark[];

/** What reading the text of a position gives. */
export type ReadPosition =
  | { kind: "position"; position: Position }
  /** The text is not a position, is damaged, or is a position in other collections. */
  | { kind: "invalid" }
  /** It is a position in another store. */
  | { kind: "foreign" };

/** Makes and reads the texts. */
export interface Positions {
  format(position: Position): string;
  /**
   * `isOpen`: the position can lack some of the collections, which are new since then, and can have others, which the caller
   * can no longer list. The result leaves these out.
   */
  read(text: string, collections: readonly string[], isOpen: boolean): ReadPosition;
  /** The id of the event of a change. It differs from all others of the store. */
  eventId(collection: string, sequence: LogPlace): string;
}

/** The check of a place without a change. */
export const noChange = "0000000000";

const sizes = { identity: 4, block: 16, name: 5, place: placeBytes, check: 5, checksum: 4 } as const;

/** Identifies a change among all that could be at its place: another history has another change there. */
export function checkOf({ id, version, kind, at }: LoggedKey): string {
  return hash("sha256", JSON.stringify([id, version, kind, at]), "buffer")
    .subarray(0, sizes.check)
    .toString("hex");
}

/** Creates the texts with the secret of the store. `secret` is first called when a text is made or read. */
export function createPositions(secret: () => Buffer): Positions {
  let made: { key: Buffer; identity: Buffer; cipher: Cipheriv } | undefined;
  const keys = () => {
    made ??= keysOf(secret());
    return made;
  };
  const blockOf = createBlocks();
  const formatted = new WeakMap<Position, string>();
  return {
    format: (position) => {
      const known = formatted.get(position);
      if (known !== undefined) return known;
      const { identity, cipher } = keys();
      const content = Buffer.concat([identity, cipher.update(Buffer.concat(position.map(blockOf)))]);
      const text = Buffer.concat([content, checksumOf(content)]).toString("base64url");
      formatted.set(position, text);
      return text;
    },
    read: (text, collections, isOpen) => {
      const content = contentOf(text);
      if (content === undefined) return { kind: "invalid" };
      const { key, identity } = keys();
      if (!content.subarray(0, sizes.identity).equals(identity)) return { kind: "foreign" };
      const blocks = decrypt(key, content.subarray(sizes.identity));
      const position = marksOf(blocks, collections);
      const isExact =
        position.length === collections.length && blocks.length === position.length * sizes.block;
      return isOpen || isExact ? { kind: "position", position } : { kind: "invalid" };
    },
    eventId: (collection, sequence) => {
      const block = keys().cipher.update(blockOf({ collection, sequence, check: ofEvent }));
      return `e${block.toString("base64url")}`; // a command line would take a "-" at the start for an option
    },
  };
}

/** In the block of an event's id. No position has it, because it would need the same check. */
const ofEvent = "ffffffffff";

function keysOf(secret: Buffer): { key: Buffer; identity: Buffer; cipher: Cipheriv } {
  const key = derive(secret, "positions").subarray(0, sizes.block);
  return {
    key,
    identity: derive(secret, "identity").subarray(0, sizes.identity),
    cipher: createCipheriv(algorithm, key, null).setAutoPadding(false),
  };
}

function derive(secret: Buffer, purpose: string): Buffer {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["changes", purpose]))
    .digest();
}

function checksumOf(content: Buffer): Buffer {
  const checksum = Buffer.allocUnsafe(sizes.checksum);
  checksum.writeUInt32BE(crc32(content));
  return checksum;
}

/** The bytes of a text without its checksum; `undefined` if any character is wrong. */
function contentOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  const content = bytes.subarray(0, -sizes.checksum);
  const isWhole =
    bytes.toString("base64url") === text &&
    content.length >= sizes.identity &&
    (content.length - sizes.identity) % sizes.block === 0;
  return isWhole && checksumOf(content).equals(bytes.subarray(-sizes.checksum)) ? content : undefined;
}

function nameHash(collection: string): Buffer {
  return hash("sha256", collection, "buffer").subarray(0, sizes.name);
}

/** Makes the blocks of marks. It keeps the hashes of recent names, because each event needs one. */
function createBlocks(): (mark: Mark) => Buffer {
  const hashes = new LRUCache<string, Buffer>({ max: 1_000 });
  return ({ collection, sequence, check }) => {
    let name = hashes.get(collection);
    if (name === undefined) {
      name = nameHash(collection);
      hashes.set(collection, name);
    }
    const block = Buffer.allocUnsafe(sizes.block);
    name.copy(block);
    writePlace(sequence, block, sizes.name);
    block.write(check, sizes.name + sizes.place, "hex");
    return block;
  };
}

/** The marks of these collections, each once, in blocks. */
function marksOf(blocks: Buffer, collections: readonly string[]): Position {
  const names = new Map(collections.map((name) => [nameHash(name).toString("hex"), name]));
  const marks: Mark[] = [];
  for (let start = 0; start < blocks.length; start += sizes.block) {
    const block = blocks.subarray(start, start + sizes.block);
    const hashed = block.toString("hex", 0, sizes.name);
    const collection = names.get(hashed);
    if (collection === undefined) continue;
    names.delete(hashed);
    marks.push({
      collection,
      sequence: readPlace(block, sizes.name),
      check: block.toString("hex", sizes.name + sizes.place),
    });
  }
  return marks;
}

/**
 * Each block alone: a block is never the same for two places, and it needs no secret about the others. So one cipher encrypts
 * all of them, and gives each block at once.
 */
const algorithm = "aes-128-ecb";

function decrypt(key: Buffer, blocks: Buffer): Buffer {
  const decipher = createDecipheriv(algorithm, key, null).setAutoPadding(false);
  return Buffer.concat([decipher.update(blocks), decipher.final()]);
}
