/** Faults of figures: in both stores, and over HTTP. */
import type { Fault } from "../faults.ts";

const onSqlite = "test/store/sqlite-figures";
const onPostgres = "test/store/postgres-figures";
const overHttp = "test/http/access/figures";

export const figuresFaults: readonly Fault[] = [
  {
    name: "week-on-sunday",
    what: "On SQLite, a week begins on Sunday.",
    noticedBy: "test/http/time-zones",
    test: "have weeks that begin on Monday, also in UTC and in a QUERY, page by page",
    replacements: [["getUTCDay() + 6) % 7 : 0", "getUTCDay() + 7) % 7 : 0"]],
  },
  {
    name: "offset-too-late",
    what: "The offset of a time zone changes a millisecond too late.",
    noticedBy: "test/http/time-zones",
    test: "have the local hour, in which an hour is missing or occurs twice",
    replacements: [["* 1_000 <= ms) low = middle + 1;", "* 1_000 < ms) low = middle + 1;"]],
  },
  {
    name: "day-with-offset",
    what: "On PostgreSQL, a day without a time is moved to another day by a time zone.",
    noticedBy: "test/http/time-zones",
    test: "keep days, which have no time, in every zone",
    store: "postgres",
    replacements: [["then interval '0' else", "and false then interval '0' else"]],
  },
  {
    name: "cursor-of-other-zone",
    what: "A cursor of a list until today goes on in another time zone, so resources are missing or come twice.",
    noticedBy: "test/http/time-zones",
    test: "has cursors that belong to the zone",
    replacements: [
      [
        'const name = written.some(dependsOnZone) ? (zone?.name ?? "") : "";',
        'const name = written.some(dependsOnZone) && zone === undefined ? "-" : "";',
      ],
    ],
  },
  {
    name: "ignored-zone",
    what: "A time zone without an effect is accepted, so a filter by an attribute with this name finds everything.",
    noticedBy: "test/http/time-zones",
    test: "the request with timezone=UTC has a time zone that is refused",
    replacements: [
      [
        "if (zone === undefined || used.usesZone === true || violations.all.length > 0) return;",
        "if (used.usesZone !== false) return;",
      ],
    ],
  },
  {
    name: "figures-of-everything",
    what: "Figures count resources that the caller cannot list.",
    noticedBy: "test/http/access/figures",
    test: "the figures of owned are those of the list of ada",
    replacements: [["return narrowed(all, listed);", "return all;"]],
  },
  {
    name: "figures-tag-of-everything",
    what: "The ETag of figures changes with resources that the caller cannot list.",
    noticedBy: overHttp,
    test: "not the figures, not the ETag, and the old one is still current",
    replacements: [[": hashOf([texts, more]).slice(0, 16);", ": Number(hashOf([]) && sequence);"]],
  },
  {
    name: "figures-cut-strings",
    what: "Long strings from an index are one group if they begin alike.",
    noticedBy: onSqlite,
    test: "values of every type are their own groups, with and without an index",
    replacements: [["'blob' and octet_length(", "'blob' and 0 * octet_length("]],
  },
  {
    name: "figures-index-for-any-filter",
    what: "Figures use an index although it lacks an attribute.",
    noticedBy: onSqlite,
    test: "read only the index: a sum by an indexed attribute",
    replacements: [["names.every((name) => has.has(name)) && ", "names.length > 0 && "]],
  },
  {
    name: "figures-dates-that-do-not-exist",
    what: "On SQLite, 30 February is a date if a time follows.",
    noticedBy: onSqlite,
    test: "dates are grouped by their parts, and all other values are null, with and without an index",
    replacements: [["|| !isDate(text.slice(0, 10))) return undefined;", ") return undefined;"]],
  },
  {
    name: "figures-max-boolean",
    what: "The maximum of true and 0 is true.",
    noticedBy: onSqlite,
    test: "the minimum and the maximum of two values of different types",
    replacements: [['(extreme === "min" ? all : all.toReversed())', "all"]],
  },
  {
    name: "figures-partial-sum",
    what: "On SQLite, a partial sum can exceed the range of numbers.",
    noticedBy: onSqlite,
    test: "a sum beyond the range of numbers is null, and a partial sum beyond it does no harm",
    replacements: [["const scale = 2 ** 64;", "const scale = 1;"]],
  },
  {
    name: "figures-order-of-postgres",
    what: "On PostgreSQL, null comes last.",
    noticedBy: onPostgres,
    test: "figures equal a computation in memory, for random resources, filters, groups, sorts and indexes",
    replacements: [['descending ? "desc nulls last" : "asc nulls first"', 'descending ? "desc" : "asc"']],
  },
  {
    name: "figures-leap-years-of-postgres",
    what: "On PostgreSQL, every year has a 29 February.",
    noticedBy: onPostgres,
    test: "dates are grouped by their parts, and all other values are null, with and without an index",
    replacements: [['const leapYears = "(', 'const leapYears = "([0-9]{4}|']],
  },
  {
    name: "figures-more",
    what: "Figures do not say that there are more groups.",
    noticedBy: onSqlite,
    test: "groups whose values are longer than a page are cut, but never to nothing",
    replacements: [["more = groups.length === limit || (groups", "more = false && (groups"]],
  },
  {
    name: "figures-exact-average-cut",
    what: "An average of exact numbers is cut instead of rounded.",
    noticedBy: onSqlite,
    test: "sums of exact numbers have all digits, and averages are rounded to 12 of them after the point, halves away from zero",
    replacements: [["* 2n + divisor) / (divisor * 2n)", "* 2n) / (divisor * 2n)"]],
  },
  {
    name: "figures-exact-average-floored",
    what: "An average of exact numbers has no digits after the point.",
    noticedBy: onPostgres,
    test: "sums of exact numbers have all digits, and averages are rounded to 12 of them after the point, halves away from zero",
    replacements: [["trim_scale(", "floor("]],
  },
  {
    name: "figures-exact-key-of-negative",
    what: "Among negative exact numbers, the smaller one comes last.",
    noticedBy: "test/collection/exact-numbers",
    test: "keys have the order of the numbers, and equal numbers have equal keys",
    replacements: [["(digit) => String(9 - Number(digit))", "(digit) => digit"]],
  },
];
