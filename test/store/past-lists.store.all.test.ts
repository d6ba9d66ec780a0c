/** Many random lists as of a time, on the store that takes the least time for each. */
import { pastListProperties } from "./contract/past-lists.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

pastListProperties(openSqliteFixture, {
  cases: Number(process.env.HOLDFAST_TEST_QUERY_RUNS ?? 120),
});
