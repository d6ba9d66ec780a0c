/** The cells that tables show, and their names. */
import { scenarios } from "../comparison/scenarios.ts";
import { short } from "../harness/figure.ts";
import type { Cell, SubjectFacts } from "./results.ts";

/** The articles and connections of the main tables. */
export const main = { bytes: 300, connections: 64 };

/** The subject that writes in a loop, without connections and not in turn with the others. */
export const loop = "sqlite-loop";

/** Whether the main tables show a cell. The loop has no connections, and is shown beside all of them. */
export function isMain(cell: Cell): boolean {
  if (cell.subject === loop) return cell.bytes === main.bytes;
  return cell.processors === undefined && isUsual(cell);
}

/** Whether the services could use all processors, with articles of the usual size. */
export function isOnAll({ processors, bytes }: Cell): boolean {
  return processors !== undefined && bytes === main.bytes;
}

function isUsual({ bytes, connections, flushDelayUs }: Cell): boolean {
  return bytes === main.bytes && flushDelayUs === undefined && connections === main.connections;
}

/** The name of a measurement: the scenario, the articles, the connections and the disk. */
export function describeCell({ scenario, bytes, connections, flushDelayUs }: Cell): string {
  const title = scenarios.find(({ name }) => name === scenario)?.title ?? scenario;
  const slow = flushDelayUs === undefined ? "" : `, each flush ${flushDelayUs / 1000} ms slower`;
  return `${title}: ${short(bytes)} bytes, ${describeConnections(connections)}${slow}`;
}

/** A number of connections in words. */
export function describeConnections(connections: number): string {
  return `${connections} connection${connections === 1 ? "" : "s"}`;
}

/** The name of a curve. */
export function scaleTitle(what: string): string {
  if (what === "walk") return "walk by pages of 100, articles";
  return scenarios.find(({ name }) => name === what)?.title ?? what;
}

/** The name of a subject. */
export function titleOf(subjects: readonly SubjectFacts[], name: string): string {
  return subjects.find((each) => each.name === name)?.title ?? name;
}
