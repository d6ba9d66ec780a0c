/** Every metric of a service with all capabilities, by name. */
import { loadCapabilities } from "../../src/capabilities/all.ts";
import { families as ofCore } from "../../src/observe/families.ts";
import type { Family } from "../../src/observe/metrics-source.ts";
import { families as ofPeople } from "../../src/server/people-metrics.ts";

export const families: Readonly<Record<string, Family>> = Object.assign(
  {},
  ofCore,
  ofPeople,
  ...(await loadCapabilities()).map((each) => each.families),
);
