/** The part of the contract of stores that costs little: `sqlite.store.alone.all.test.ts` has all of it. */
import { describe } from "node:test";
import { changeLogContract } from "./contract/change-log.ts";
import { commitContract } from "./contract/commit.ts";
import { dryRunsContract } from "./contract/dry-runs.ts";
import { historyContract } from "./contract/history.ts";
import { loadContract } from "./contract/load.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

describe("SQLite keeps the contract of commits", { concurrency: 2 }, () => {
  commitContract(openSqliteFixture);
  dryRunsContract(openSqliteFixture);
  changeLogContract(openSqliteFixture);
  historyContract(openSqliteFixture);
  loadContract(openSqliteFixture);
});
