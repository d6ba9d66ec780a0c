/** Every metric of a service with all capabilities, by name. */
import { loadCapabilities } from "../../src/capabilities/all.ts";
import { families as ofCore } from "../../src/observe/families.ts";
import type { Family } from "../../src/observe/metrics-source.ts";

export const families: Readonly<Record<string, Family>> = Object.assign(
  {},
  ofCore,
  ...(await loadCapabilities()).map((each) => each.families),
);
