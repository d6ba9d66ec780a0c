/**
 * Arrays in the binary format of PostgreSQL. Unlike the text format, it needs no escaping, which for a mebibyte of
 * quotation marks takes longer than everything else. https://www.postgresql.org/docs/current/protocol-overview.html
 */

/** The object identifiers (OIDs) of element types. */
const oids = { bytea: 17, bigint: 20, integer: 23, text: 25, json: 114 } as const;

/** An array of texts. */
export function texts(values: readonly (string | null)[]): Buffer {
  return arrayOf(oids.text, values.map(toBytes));
}

/** An array of JSON texts. */
export function jsons(values: readonly string[]): Buffer {
  return arrayOf(oids.json, values.map(toBytes));
}

/** An array of byte strings. */
export function bytes(values: readonly Uint8Array[]): Buffer {
  return arrayOf(
    oids.bytea,
    values.map((value) => Buffer.from(value)),
  );
}

/** An array of safe integers. */
export function bigints(values: readonly (number | null)[]): Buffer {
  return arrayOf(
    oids.bigint,
    values.map((value) => (value === null ? null : toBigint(value))),
  );
}

/** An array of 32-bit integers. */
export function integers(values: readonly number[]): Buffer {
  return arrayOf(oids.integer, values.map(toInteger));
}

function toBytes(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text);
}

function toBigint(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

function toInteger(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const nullLength = -1;

function arrayOf(oid: number, elements: readonly (Buffer | null)[]): Buffer {
  if (elements.length === 0) return Buffer.concat([0, 0, oid].map(toInteger));
  const hasNull = elements.includes(null) ? 1 : 0;
  const parts = [1, hasNull, oid, elements.length, 1].map(toInteger);
  for (const element of elements) {
    parts.push(toInteger(element?.length ?? nullLength));
    if (element !== null) parts.push(element);
  }
  return Buffer.concat(parts);
}
