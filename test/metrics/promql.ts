/** What a query in PromQL names, read with the parser of Prometheus' own web page. */
import { parser } from "@prometheus-io/lezer-promql";

/** A selected metric with the labels that the query uses on it. */
export interface Selected {
  name: string;
  labels: readonly string[];
}

/** The selected metrics of a query. Grouping labels count for all of them. Throws if the query is not PromQL. */
export function selectedIn(query: string): Selected[] {
  const selected: { name: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  let isGrouping = false;
  const textOf = (node: { from: number; to: number }) => query.slice(node.from, node.to);
  parser.parse(query).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`Not PromQL at ${node.from}: ${query}`);
      if (node.name === "VectorSelector") selected.push({ name: "", labels: [] });
      const last = selected.at(-1);
      if (node.name === "Identifier" && last !== undefined) last.name = textOf(node);
      if (node.name === "GroupingLabels") isGrouping = true;
      if (node.name === "LabelName") (isGrouping ? grouping : last?.labels)?.push(textOf(node));
    },
    leave(node) {
      if (node.name === "GroupingLabels") isGrouping = false;
    },
  });
  return selected.map(({ name, labels }) => ({ name, labels: [...labels, ...grouping] }));
}
