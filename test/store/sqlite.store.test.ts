/** The contract on SQLite, with a quarter of the random cases. `npm run test:all` runs all of them: `sqlite-whole`. */
import { describe } from "node:test";
import { runsOf } from "./contract/fixture.ts";
import { togetherContract } from "./contract/properties.ts";
import { storeContract } from "./contract.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const share = 1 / 4;

storeContract("SQLite", openSqliteFixture, share);
describe("SQLite without group commit", () =>
  togetherContract((options) => openSqliteFixture({ groupCommit: false, ...options }), runsOf(share)));
