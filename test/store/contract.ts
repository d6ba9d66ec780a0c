/** What every store must do. A store's own test file runs it in a few lines. */
import { describe } from "node:test";
import { catalogueContract } from "./contract/catalogue.ts";
import { changeLogContract } from "./contract/change-log.ts";
import { commitContract } from "./contract/commit.ts";
import { driftContract, receiptsContract } from "./contract/drift.ts";
import { dryRunsContract } from "./contract/dry-runs.ts";
import { type OpenFixture, type Runs, runsOf } from "./contract/fixture.ts";
import { historyContract } from "./contract/history.ts";
import { keysContract } from "./contract/keys.ts";
import { listContract } from "./contract/list.ts";
import { loadContract } from "./contract/load.ts";
import { pastListsContract } from "./contract/past-lists.ts";
import { propertyContract, togetherContract } from "./contract/properties.ts";
import { queriesContract } from "./contract/queries.ts";
import { referencesContract } from "./contract/references.ts";
import { searchContract } from "./contract/search.ts";
import { turnsContract } from "./contract/turns.ts";
import { uniqueContract, uniqueProperty } from "./contract/unique.ts";
import { walksContract } from "./contract/walks.ts";

/** Runs the whole suite on stores that `open` makes, empty each time. `share`: of the usual number of random cases. */
export function storeContract(name: string, open: OpenFixture, share = 1): void {
  const runs = runsOf(share);
  describe(`${name} keeps the contract of stores`, { concurrency: 2 }, () => {
    writes(open, runs);
    listContract(open);
    queriesContract(open, runs);
    pastListsContract(open, runs);
    walksContract(open, runs);
    turnsContract(open);
    catalogueContract(open);
    keysContract(open);
    searchContract(open, runs);
  });
}

/** Runs the examples of what a store decides with its own statements: commits, unique values, lists and keys. */
export function sliceContract(name: string, open: OpenFixture): void {
  describe(`${name} keeps a slice of the contract of stores`, { concurrency: 2 }, () => {
    commitContract(open);
    turnsContract(open);
    uniqueContract(open);
    listContract(open);
    keysContract(open);
  });
}

/** Runs the part of the suite that writes: for a store that several threads have open. */
export function writesContract(name: string, open: OpenFixture): void {
  describe(`${name} keeps the contract of writes`, { concurrency: 2 }, () => writes(open, runsOf(1)));
}

/** Runs the part of the suite in which commits arrive together: for a store that differs only in how it groups them. */
export function groupsContract(name: string, open: OpenFixture): void {
  describe(`${name} keeps the contract of commits that arrive together`, { concurrency: 2 }, () => {
    commitContract(open);
    togetherContract(open, runsOf(1));
  });
}

function writes(open: OpenFixture, runs: Runs): void {
  commitContract(open);
  uniqueContract(open);
  uniqueProperty(open, runs);
  dryRunsContract(open);
  togetherContract(open, runs);
  referencesContract(open, runs);
  driftContract(open);
  receiptsContract(open);
  changeLogContract(open);
  historyContract(open);
  loadContract(open);
  propertyContract(open, runs);
}
