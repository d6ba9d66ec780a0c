/** Finds the attributes that refer to resources of other collections, and names their relations in both directions. */
import { pluralOf } from "../collection/plurals.ts";
import { relationName } from "../collection/references.ts";
import type { IdTable } from "./id-table.ts";
import { referredName, type Survey } from "./survey.ts";

/** A reference whose values all resolve. */
export interface FoundReference {
  attribute: string;
  collection: string;
  as: string;
  inverse: string;
}

/** The references of one collection, and what is to say about attributes that only look like references. */
export interface FoundReferences {
  references: readonly FoundReference[];
  notes: readonly string[];
}

/** The references of each collection, by its name. */
export function findReferences(
  surveys: readonly Survey[],
  table: IdTable,
): ReadonlyMap<string, FoundReferences> {
  const names = new Names(surveys);
  return new Map(
    surveys.map((survey) => {
      const candidates = [...survey.shape.members.keys()].flatMap((attribute) => {
        const target = targetOf(attribute, surveys);
        return target === undefined ? [] : [{ attribute, target }];
      });
      const references: FoundReference[] = [];
      const notes: string[] = [];
      for (const { attribute, target } of candidates) {
        const values = table.valuesOf(survey.name, attribute, target);
        if (values.total === 0) continue;
        const { unresolved } = values;
        if (unresolved !== undefined)
          notes.push(
            `"${attribute}" looks like a reference to "${target}", but ${unresolved.count.toLocaleString("en")} of its ${values.total.toLocaleString("en")} values cannot be found there, such as ${unresolved.value} in ${unresolved.holder}.`,
          );
        else references.push(names.take(survey, attribute, target));
      }
      return [survey.name, { references, notes }];
    }),
  );
}

/** The collection that an attribute refers to by its name; `undefined` if none has a fitting name. */
function targetOf(attribute: string, surveys: readonly Survey[]): string | undefined {
  const referred = referredName(attribute);
  if (referred === undefined) return undefined;
  const known = surveys.filter(({ hasKnownIds }) => hasKnownIds);
  for (const wanted of [pluralOf(referred), referred, `${referred}s`]) {
    const found = known.find(({ name }) => plain(name) === plain(wanted));
    if (found !== undefined) return found.name;
  }
  return undefined;
}

/** A name without what differs between styles: `blog_posts`, `blog-posts` and `blogPosts` are the same. */
function plain(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

/** Leaves space for a number behind it. */
const maxBase = 60;

/** The names that each collection uses already: for its attributes and for its relations. */
class Names {
  readonly #used: ReadonlyMap<string, Set<string>>;

  constructor(surveys: readonly Survey[]) {
    this.#used = new Map(surveys.map(({ name, shape }) => [name, new Set(["id", ...shape.members.keys()])]));
  }

  /** Names the relations of a reference. */
  take({ name, shape }: Survey, attribute: string, target: string): FoundReference {
    const isList = shape.members.get(attribute)?.kinds.includes("array") === true;
    const referred = referredName(attribute) as string;
    const [as, inverse] = [
      this.#take(name, isList ? pluralOf(referred) : referred, attribute),
      this.#take(target, name, attribute),
    ];
    return { attribute, collection: target, as, inverse };
  }

  #take(collection: string, wanted: string, attribute: string): string {
    const used = this.#used.get(collection) as Set<string>;
    const base = relationName.test(wanted) ? wanted.slice(0, maxBase) : "related";
    const ending = `By${attribute.replace(/^./, (first) => first.toUpperCase())}`;
    const others = [base, `${base}${ending}`].filter((each) => relationName.test(each));
    let name = others.find((each) => !used.has(each));
    for (let n = 2; name === undefined; n++) if (!used.has(`${base}${n}`)) name = `${base}${n}`;
    used.add(name);
    return name;
  }
}
