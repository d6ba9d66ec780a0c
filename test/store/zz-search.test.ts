import { searchContract } from "./contract/search.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";
searchContract(openSqliteFixture);
