/**
 * The sequence of a collection at a time: that of its last change until then, by the times of the commits. It decides on the
 * history of single resources and of lists, so both agree.
 *
 * A binary search finds it, because the log has no index of times. If the clock was set back, several sequences can fit,
 * and the result is one of them. The search always compares the same sequences, so later changes do not alter its result.
 */

/** More than every sequence, and a power of two. */
const firstStep = 2 ** 52;

/** The statement for SQLite and PostgreSQL. Its row is 0 if the log `table` has no change until the time `at`. */
export function sequenceAtSql(table: string, at: string): string {
  const next = "search.sequence + search.step";
  return `with recursive search(step, sequence) as (
      select cast(${firstStep} as bigint), cast(0 as bigint)
      union all
      select step / 2, sequence + case when ${next} > (select coalesce(max(sequence), 0) from ${table}) then 0
        when (select at from ${table} where sequence <= ${next} order by sequence desc limit 1) > ${at} then 0
        else step end
      from search where step > 0)
    select coalesce(max(sequence), 0) as sequence from ${table}
    where sequence <= (select sequence from search where step = 0)`;
}
