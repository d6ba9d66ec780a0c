/** What every store must do. A store's own test file runs it in a few lines. */
import { describe } from "node:test";
import { catalogueContract } from "./contract/catalogue.ts";
import { changeLogContract } from "./contract/change-log.ts";
import { commitContract } from "./contract/commit.ts";
import { driftContract, receiptsContract } from "./contract/drift.ts";
import { dryRunsContract } from "./contract/dry-runs.ts";
import type { OpenFixture } from "./contract/fixture.ts";
import { historyContract } from "./contract/history.ts";
import { keysContract } from "./contract/keys.ts";
import { listContract } from "./contract/list.ts";
import { loadContract } from "./contract/load.ts";
import { pastListsContract } from "./contract/past-lists.ts";
import { propertyContract, togetherContract } from "./contract/properties.ts";
import { queriesContract } from "./contract/queries.ts";
import { referencesContract } from "./contract/references.ts";
import { searchContract } from "./contract/search.ts";
import { uniqueContract } from "./contract/unique.ts";
import { walksContract } from "./contract/walks.ts";

/** Runs the whole suite on stores that `open` makes, empty each time. */
export function storeContract(name: string, open: OpenFixture): void {
  describe(`${name} keeps the contract of stores`, { concurrency: 2 }, () => {
    writes(open);
    listContract(open);
    queriesContract(open);
    pastListsContract(open);
    walksContract(open);
    catalogueContract(open);
    keysContract(open);
    searchContract(open);
  });
}

/** Runs the part of the suite that writes: for a store that several threads have open. */
export function writesContract(name: string, open: OpenFixture): void {
  describe(`${name} keeps the contract of writes`, { concurrency: 2 }, () => writes(open));
}

/** Runs the part of the suite in which commits arrive together: for a store that differs only in how it groups them. */
export function groupsContract(name: string, open: OpenFixture): void {
  describe(`${name} keeps the contract of commits that arrive together`, { concurrency: 2 }, () =>
    groups(open),
  );
}

function groups(open: OpenFixture): void {
  commitContract(open);
  uniqueContract(open);
  dryRunsContract(open);
  togetherContract(open);
}

function writes(open: OpenFixture): void {
  groups(open);
  referencesContract(open);
  driftContract(open);
  receiptsContract(open);
  changeLogContract(open);
  historyContract(open);
  loadContract(open);
  propertyContract(open);
}
