/** The operations on nested paths: the resources that refer to one resource. */
import type { Relation } from "../../collection/relations.ts";
import { type About, asMany, asOne } from "./about.ts";
import { collectionOperations } from "./collection-operations.ts";
import { folded, pascalCase } from "./names.ts";
import type { MethodsOf, OperationPlan } from "./operations.ts";
import { idParameter } from "./parameters.ts";

/** A nested path. */
export interface Nested {
  parent: About;
  /** The collection of the resources below the parent. */
  about: About;
  relation: Relation;
  /** The name of the relation in the ids of operations, such as `UserArticles`. */
  name: string;
}

/**
 * The nested paths below the resources of a collection. Every caller can read the document, so it leaves out relations by
 * attributes that are hidden from some callers. Adds the ids of their operations to `taken`.
 */
export function nestedBelow(parent: About, all: readonly About[], taken: Set<string>): Nested[] {
  return [...parent.collection.relations.values()].flatMap((relation) => {
    const about = all.find(({ collection }) => collection.name === relation.collection);
    if (relation.kind !== "inverse" || about === undefined) return [];
    return relation.isRestricted
      ? []
      : [{ parent, about, relation, name: freeName(parent, relation, taken) }];
  });
}

function freeName({ names }: About, relation: Relation, taken: Set<string>): string {
  const base = names.one + pascalCase(relation.name);
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}${n}`;
    const ids = idsOf(name).map(folded);
    if (ids.some((id) => taken.has(id))) continue;
    for (const id of ids) taken.add(id);
    return name;
  }
}

function idsOf(name: string): readonly [list: string, query: string, create: string] {
  return [`list${name}`, `query${name}`, `createIn${name}`];
}

/** The operations, by method. */
export const nestedOperations: Record<MethodsOf<"nested">, (nested: Nested) => OperationPlan> = {
  GET: (nested) => {
    const [id] = idsOf(nested.name);
    return {
      ...below(nested, "GET"),
      id,
      summary: `List the ${asMany(nested.about)} of ${asOne(nested.parent)}`,
    };
  },
  QUERY: (nested) => {
    const [, id] = idsOf(nested.name);
    return {
      ...below(nested, "QUERY"),
      id,
      summary: `Query the ${asMany(nested.about)} of ${asOne(nested.parent)}`,
    };
  },
  POST: (nested) => {
    const [, , id] = idsOf(nested.name);
    const description = `Creates a resource that refers to this one. The service sets \`${nested.relation.path.join(".")}\`.`;
    return {
      ...below(nested, "POST"),
      id,
      summary: `Create ${asOne(nested.about)} of ${asOne(nested.parent)}`,
      description,
    };
  },
};

/** The operation on the collection, with the id of the parent and its errors. */
function below({ parent, about }: Nested, method: MethodsOf<"nested">): OperationPlan {
  const plan = collectionOperations[method](about);
  const ofParent = parent.credentialFor("resource", "GET");
  return {
    ...plan,
    credential: ofParent === "required" ? ofParent : plan.credential,
    parameters: [idParameter(parent.collection.idKind), ...(plan.parameters ?? [])],
    problems: [...new Set([...plan.problems, 404])],
  };
}
