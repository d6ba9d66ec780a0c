/** The operations of two paths: the prefix, with the list of collections, and the root, with the start page. */
import { type Described, json, type Part, ref } from "./described.ts";
import { answer, type OperationPlan, operationPart } from "./operations.ts";
import { serviceTag } from "./service-operations.ts";

/** The path items of prefix and root. If the prefix is the root, one path has both. */
export function rootPaths(described: Described): Record<string, Part> {
  const { prefix } = described.settings;
  const list = { get: operationPart(listCollections(described), described) };
  if (prefix === "") return { "/": list };
  return { [prefix]: list, "/": { get: operationPart(frontPage(described), described) } };
}

const page: Part = { "text/html": { schema: { type: "string" } } };

function listCollections(described: Described): OperationPlan {
  const { access, settings } = described;
  const whose = access === undefined ? "" : " The list has only the collections that the caller can list.";
  return {
    id: "getCollections",
    tag: serviceTag,
    summary: "List the collections",
    description: `Returns the name and the path of each collection, sorted by name.${whose}`,
    callers: "anybody too",
    isNeverForbidden: true,
    answers: {
      200: answer(described, "The collections.", {
        ...(settings.docs ? { may: ["Link"] } : {}),
        content: { ...json(ref("schemas", "CollectionList")), ...(settings.prefix === "" ? page : {}) },
      }),
    },
    problems: [400, 406],
  };
}

function frontPage(described: Described): OperationPlan {
  return {
    id: "getFrontPage",
    tag: serviceTag,
    summary: "Get the start page",
    description: "Returns a page if `Accept` contains `text/html`, as in the requests of browsers.",
    callers: "anybody",
    answers: { 200: answer(described, "The page.", { content: page }) },
    problems: [400, 404],
  };
}
