/** SQL that reads resources and the change log. Lists have their own (`../list/page.ts`). */
import { sequenceAtSql } from "../../core/sequence-at.ts";
import { differenceMark, maxChain } from "../../core/superseded.ts";
import { bigints, texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { changeColumns, resourceColumns } from "../tables/statements.ts";
import { changesTable, resourcesTable } from "../tables/tables.ts";

/** The largest value of an integer column. */
const maxInteger = 2_147_483_647;

/** The resources with these keys; without the text if it has more than `size` bytes. */
export function selectResources(number: number, keys: readonly string[], size = maxInteger): Statement {
  return {
    sql: `select key, version, updated_at, case when size <= $2::bigint then doc::text end
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
    sql: `select key, version, updated_at, case when running <= $2::bigint or n <= $3::bigint then doc::text end
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

/** The change log after a sequence. */
export function selectChanges(number: number, sequence: number, limit: number): Statement {
  return {
    sql: `select ${changeColumns}, id, superseded from ${changesTable(number)}
      where sequence > $1::bigint order by sequence limit $2::bigint`,
    values: [sequence, limit],
  };
}

/** The changes of one resource below a version, newest first. */
export function selectChangesOf(
  number: number,
  id: string,
  page: { before: number; limit: number },
): Statement {
  return {
    sql: `select ${changeColumns} from ${changesTable(number)}
      where id = $1::text and version < $2::bigint order by version desc limit $3::bigint`,
    values: [id, page.before, page.limit],
  };
}

/** The change of a resource that made a version. If it is not in the log, the last change before it. */
export function selectChangeUpTo(number: number, id: string, version: number): Statement {
  return {
    sql: `select sequence, version, kind, at from ${changesTable(number)}
      where id = $1::text and version <= $2::bigint order by version desc limit 1`,
    values: [id, version],
  };
}

/** The oldest change of a resource. */
export function selectOldestChange(number: number, id: string): Statement {
  return {
    sql: `select sequence, version, kind, at from ${changesTable(number)} where id = $1::text order by version limit 1`,
    values: [id],
  };
}

/** What the change log keeps of superseded texts, from a version up to the first whole text. */
export function selectChain(number: number, id: string, version: number): Statement {
  const changes = changesTable(number);
  const last = version + maxChain - 1;
  return {
    sql: `select version, superseded from ${changes} where id = $1::text and version between $2::bigint and coalesce(
        (select min(version) from ${changes} where id = $1::text and version between $2::bigint and $3::bigint
          and left(superseded, 1) is distinct from '${differenceMark}'), $3::bigint)
      order by version`,
    values: [id, version, last],
  };
}

/** The sequence of a collection at a time. */
export function selectSequenceAt(number: number, at: number): Statement {
  return { sql: sequenceAtSql(changesTable(number), "$1::bigint"), values: [at] };
}

/** The changes after a sequence, without their texts. */
export function selectChangeKeys(number: number, sequence: number, limit: number): Statement {
  return {
    sql: `select sequence, version, kind, at, id, "group" from ${changesTable(number)}
      where sequence > $1::bigint order by sequence limit $2::bigint`,
    values: [sequence, limit],
  };
}

/**
 * The chains of several changes, as `selectChain`, each with its place in the arrays. Only the first chains, up to `size`
 * bytes, but at least one. The bytes of the current resources with these keys count too.
 */
export function selectChains(
  number: number,
  { ids, keys, versions }: { ids: readonly string[]; keys: readonly string[]; versions: readonly number[] },
  size: number,
): Statement {
  const changes = changesTable(number);
  const last = `wanted.version + ${maxChain - 1}`;
  return {
    sql: `select place, version, superseded from (
        select wanted.place, change.version, change.superseded,
          sum(coalesce(octet_length(change.superseded), 0) + coalesce(resource.size, 0)) over (order by wanted.place) as running
        from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as wanted(id, key, version, place)
        left join ${resourcesTable(number)} as resource on resource.key = wanted.key
        cross join lateral (
          select version, superseded from ${changes} where id = wanted.id
            and version between wanted.version and coalesce(
              (select min(version) from ${changes} where id = wanted.id and version between wanted.version and ${last}
                and left(superseded, 1) is distinct from '${differenceMark}'), ${last})) as change) as measured
      where running <= $4::bigint or place = 1 order by place, version`,
    values: [texts(ids), texts(keys), bigints(versions), size],
  };
}
