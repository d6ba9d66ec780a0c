import { storeContract, writesContract } from "./contract.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

storeContract("SQLite", openSqliteFixture);
writesContract("SQLite without group commit", (options) =>
  openSqliteFixture({ groupCommit: false, ...options }),
);
