/** The faults that a test must notice. */
import type { Replacements } from "./replacements.ts";
import { accessFaults } from "./rooms/access.ts";
import { changesFaults } from "./rooms/changes.ts";
import { codeFaults } from "./rooms/code.ts";
import { commandFaults } from "./rooms/commands.ts";
import { computedFaults } from "./rooms/computed.ts";
import { dataFaults } from "./rooms/data.ts";
import { expiryFaults } from "./rooms/expiry.ts";
import { figuresFaults } from "./rooms/figures.ts";
import { hookFaults } from "./rooms/hooks.ts";
import { httpFaults } from "./rooms/http.ts";
import { importFaults } from "./rooms/imports.ts";
import { jobFaults } from "./rooms/jobs.ts";
import { observationFaults } from "./rooms/observation.ts";
import { postgresFaults } from "./rooms/postgres.ts";
import { relatedFaults } from "./rooms/related.ts";
import { routeFaults } from "./rooms/routes.ts";
import { storeFaults } from "./rooms/store.ts";
import { testingFaults } from "./rooms/testing.ts";
import { usersFaults } from "./rooms/users.ts";

/** A fault that a developer could make. */
export interface Fault {
  name: string;
  /** What is wrong, in one sentence. After a change of the code, the fault can be made again from it. */
  what: string;
  /** The subject of the test file that must notice it. The name of the file says in which tier it runs. */
  noticedBy: string;
  /** The whole title of the test in it that must fail. It passes alone without the fault. */
  test: string;
  /** The store that the file runs on. @default SQLite */
  store?: "postgres";
  /** How to make the fault. The code with the fault passes the type checker. */
  replacements: Replacements;
}

/** All faults. */
export const faults: readonly Fault[] = [
  ...dataFaults,
  ...accessFaults,
  ...changesFaults,
  ...codeFaults,
  ...commandFaults,
  ...httpFaults,
  ...figuresFaults,
  ...relatedFaults,
  ...storeFaults,
  ...postgresFaults,
  ...observationFaults,
  ...usersFaults,
  ...expiryFaults,
  ...importFaults,
  ...computedFaults,
  ...hookFaults,
  ...jobFaults,
  ...routeFaults,
  ...testingFaults,
];
