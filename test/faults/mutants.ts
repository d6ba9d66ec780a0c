/** Mutants: small mechanical changes of a source, to find what no test checks. `proveCut` judges a cut of tests with them. */
import { stripTypeScriptTypes } from "node:module";
import { type Node, parse } from "acorn";

/** A change of one source. */
export interface Mutant {
  file: string;
  /** The place that changes, in UTF-16 units from the start of the file. */
  start: number;
  end: number;
  replacement: string;
  /** What changes, such as "line 12: < becomes <=". */
  what: string;
}

/** The operators that become another one. */
const swapped: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

/**
 * All mutants of a source: without an `await`, without a statement, with a negated condition, with another operator, or with a function
 * that returns nothing.
 */
export function mutantsOf(file: string, source: string): Mutant[] {
  const code = stripTypeScriptTypes(source); // the places in it are those in the source
  const mutants: Mutant[] = [];
  const add = (node: Node, replacement: string) => {
    const line = source.slice(0, node.start).split("\n").length;
    const before = source.slice(node.start, node.end).replace(/\s+/g, " ");
    const shown = replacement === ";" ? "goes" : `becomes ${replacement.replace(/\s+/g, " ").slice(0, 60)}`;
    const what = `line ${line}: ${before.slice(0, 60)} ${shown}`;
    mutants.push({ file, start: node.start, end: node.end, replacement, what });
  };
  const visit = (node: AnyNode) => {
    const text = (part: Node) => source.slice(part.start, part.end);
    if (/^(?:If|Conditional)/.test(node.type) && !/^[!=]==$/.test(node.test.operator))
      add(node.test, `!(${text(node.test)})`);
    if (node.type === "BinaryExpression" || node.type === "LogicalExpression") {
      const { left, right, operator } = node;
      const other = swapped[operator];
      const place = code.indexOf(operator, left.end);
      if (other !== undefined && place < right.start)
        add({ type: "operator", start: place, end: place + operator.length }, other);
    }
    if (node.type === "AwaitExpression") add(node, text(node.argument));
    if (node.type === "ExpressionStatement" && node.directive === undefined) add(node, ";");
    if (node.type === "ReturnStatement" && node.argument) add(node, "return undefined;");
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) for (const each of child) if (isNode(each)) visit(each);
      if (isNode(child)) visit(child);
    }
  };
  visit(parse(code, { ecmaVersion: "latest", sourceType: "module" }) as AnyNode);
  return mutants;
}

/** A node of any type: which members it has is up to its type. */
// biome-ignore lint/suspicious/noExplicitAny: ESTree has about 70 types of nodes
type AnyNode = Node & Record<string, any>;

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
