/** What a comparison measures: which scenarios, on which services, with which articles, connections and processors. */
import type { Effort } from "../harness/effort.ts";
import { scenarios } from "./scenarios.ts";

/** Scenarios that are measured alike. */
export interface Grid {
  bytes: number;
  connections: number;
  scenarios: readonly string[];
  /** Names of services. @default all */
  only?: readonly string[];
  /** How many articles each service keeps. @default usualResources */
  resources?: number;
  /** With `all`, services use all processors of the machine, and share them with the load. @default "one" */
  processors?: "one" | "all";
}

/** The articles that stay, where a grid says nothing else. */
export const usualResources = 10_000;

/** So many that the memory of no service keeps most of them as texts. */
const coldResources = 100_000;

const written = ["holdfast", "express-sqlite", "fastify-sqlite"];
const others = ["pocketbase", "pocketbase-durable"];

/** The services that can use several processors, and what many would write themselves. */
const parallel = [...written, "holdfast-postgres", ...others, "postgrest"];

/** All scenarios with one size of articles and one number of connections. */
function full(grid: Omit<Grid, "scenarios" | "resources">): Grid[] {
  const warm = scenarios.map(({ name }) => name).filter((name) => name !== "cold");
  return [
    { ...grid, scenarios: warm },
    { ...grid, scenarios: ["cold"], resources: coldResources },
  ];
}

/** The measurements of a run. */
export const grids: Record<Effort["name"], readonly Grid[]> = {
  quick: [
    {
      bytes: 300,
      connections: 64,
      scenarios: ["read", "filtered", "create"],
      only: ["holdfast", "express-sqlite"],
    },
    { bytes: 300, connections: 1, scenarios: ["create"], only: ["holdfast", "express-sqlite"] },
  ],
  usual: [
    ...full({ bytes: 300, connections: 64 }),
    {
      bytes: 300,
      connections: 1,
      scenarios: ["read", "filtered", "create"],
      only: [...written, ...others],
    },
    { bytes: 300, connections: 256, scenarios: ["read", "create"], only: written },
    { bytes: 5_000, connections: 64, scenarios: ["read", "list", "create"], only: written },
    ...full({ bytes: 300, connections: 64, processors: "all", only: parallel }),
    { bytes: 300, connections: 1, processors: "all", scenarios: ["create"], only: parallel },
  ],
  thorough: [
    ...[300, 5_000].flatMap((bytes) => [64, 1, 256].flatMap((connections) => full({ bytes, connections }))),
    ...[64, 1, 256].flatMap((connections) => full({ bytes: 300, connections, processors: "all" })),
  ],
};

/** Grids that can use the same filled services, which take time to fill. */
export function groupsOf(asked: readonly Grid[]): Grid[][] {
  const groups = new Map<string, Grid[]>();
  for (const grid of asked) {
    const { bytes, resources = usualResources, processors = "one" } = grid;
    const key = `${bytes} ${resources} ${processors}`;
    groups.set(key, [...(groups.get(key) ?? []), grid]);
  }
  return [...groups.values()];
}
