import { texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { resourceColumns } from "../tables/statements.ts";
import { resourcesTable } from "../tables/tables.ts";

/** The largest value of an integer column. */
const maxInteger = 2_147_483_647;

/** The resources with these keys; without the text if it has more than `size` bytes. */
export function selectResources(number: number, keys: readonly string[], size = maxInteger): Statement {
  return {
    sql: `select key, version, updated_at, case when size <= $2::bigint then doc::text end, checksum
      from ${resourcesTable(number)} where key = any($1::text[])`,
    values: [texts(keys), size],
  };
}

/**
 * Resources by their keys, in this order. The result contains `size` bytes of texts in total: later resources have no text. The
 * first `atLeast` resources always have their texts.
 */
export function selectLargeResources(
  number: number,
  keys: readonly string[],
  { size, atLeast }: { size: number; atLeast: number },
): Statement {
  return {
    sql: `select key, version, updated_at, case when running <= $2::bigint or n <= $3::bigint then doc::text end, checksum
      from (select resource.*, n, sum(size) over (order by n) as running
        from unnest($1::text[]) with ordinality as asked (id, n)
        join ${resourcesTable(number)} as resource on key = asked.id) as measured`,
    values: [texts(keys), size, atLeast],
  };
}

/** As `selectAfter`, with a limit of bytes of text. It returns at least one resource, if there is one. */
export function selectChunk(
  number: number,
  after: string,
  { resources, size }: { resources: number; size: number },
): Statement {
  return {
    sql: `select ${resourceColumns} from (select *, sum(size) over (order by key rows unbounded preceding) as running
        from (select * from ${resourcesTable(number)} where key > $1::text order by key limit $2::bigint) as chunk) as measured
      where running <= $3::bigint or running = size order by key`,
    values: [after, resources, size],
  };
}
