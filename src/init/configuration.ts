/** Writes the configuration that declares what the data shows. */
import type { IdKind } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, parsePath } from "../collection/paths.ts";
import type { FoundReferences } from "./find-references.ts";
import type { OpenSchema, Shape } from "./shape.ts";
import { commentsOf, type SourceMember, type SourceValue, sourceOf } from "./source-text.ts";
import type { Survey } from "./survey.ts";

/** A collection to declare. */
export interface Surveyed {
  survey: Survey;
  idKind: IdKind;
  found: FoundReferences;
  /** More comments about the collection. */
  notes: readonly string[];
}

/** What the configuration is made of. */
export interface Contents {
  /** The collections in the order of the file. */
  collections: readonly Surveyed[];
  /** The files or the store, for the first comment. */
  from: string;
  /** Comments about members that cannot be collections. */
  notes: readonly string[];
}

/** The text of `holdfast.config.ts`. */
export function configurationText({ collections, from, notes }: Contents): string {
  const members = collections.map(
    ({ survey, ...rest }): SourceMember => ({
      name: survey.name,
      comments: [countOf(survey), ...rest.notes],
      value: declarationOf({ survey, ...rest }),
    }),
  );
  const all: SourceValue = {
    members: [{ name: "collections", value: { members, comments: notes } }],
  };
  return `${commentsOf([`Written by "npx holdfast init" from ${from}. It declares what the data shows, and you can change it:`])}${commentsOf(hints)}import { defineConfig } from "holdfast";

export default defineConfig(${sourceOf(all)});
`;
}

const hints = [
  '- Nothing is required. required: ["title"] in a schema refuses a resource without a title.',
  "- Other attributes are allowed too. Without additionalProperties: true, they are refused.",
  '- onDelete: "restrict" refuses to delete a resource that others refer to. "cascade" deletes those too, and "clear" removes the id from them.',
];

function countOf({ count }: Survey): string {
  return `${count.toLocaleString("en")} resource${count === 1 ? "" : "s"}`;
}

function declarationOf({ survey, idKind, found }: Surveyed): SourceValue {
  const { references, notes } = found;
  const members: SourceMember[] = [];
  if (idKind === "integer") members.push({ name: "id", value: "integer" });
  const properties = propertiesOf(survey);
  if (properties.length > 0) members.push({ name: "schema", value: objectSchema("object", properties) });
  const search = searchedIn(survey, new Set(references.map(({ attribute }) => attribute)));
  if (search.length > 0) members.push({ name: "search", value: search });
  if (references.length > 0)
    members.push({
      name: "references",
      comments: notes,
      value: {
        members: references.map(({ attribute, collection, as, inverse }) => ({
          name: attribute,
          value: {
            members: Object.entries({ collection, as, inverse, onDelete: "restrict" }).map(
              ([name, value]) => ({ name, value }),
            ),
          },
        })),
      },
    });
  return { members, ...(references.length === 0 && { comments: notes }) };
}

/** The attributes that the schema names. */
function attributesOf({ shape, idMember }: Survey): [string, Shape][] {
  return [...shape.members].filter(([name]) => name !== idMember);
}

function propertiesOf(survey: Survey): SourceMember[] {
  return attributesOf(survey).map(([name, shape]) => {
    const { kinds } = shape;
    const comments = kinds.length > 1 ? [`values of several types: ${kinds.join(", ")}`] : [];
    return { name, value: schemaSource(shape.schema()), comments };
  });
}

function schemaSource({ type, format, items, properties }: OpenSchema): SourceValue {
  if (properties !== undefined && type !== undefined)
    return objectSchema(
      type,
      Object.entries(properties).map(([name, schema]) => ({ name, value: schemaSource(schema) })),
    );
  const members: SourceMember[] = [];
  if (type !== undefined) members.push({ name: "type", value: type });
  if (format !== undefined) members.push({ name: "format", value: format });
  if (items !== undefined) members.push({ name: "items", value: schemaSource(items) });
  return { members };
}

function objectSchema(type: string | readonly string[], properties: readonly SourceMember[]): SourceValue {
  return {
    members: [
      { name: "type", value: type },
      { name: "properties", value: { members: properties } },
      { name: "additionalProperties", value: true },
    ],
  };
}

/** What nobody should find by its beginning. */
const secretName = /pass(?:word|phrase)?$|passwd|secret|token|hash|salt|api_?key/i;

/** The most attributes that are searched: each makes writes slower. */
const maxSearched = 20;

/** The attributes with texts, also those of inner objects. */
function searchedIn(survey: Survey, references: ReadonlySet<string>): string[] {
  const paths: string[] = [];
  const collect = (names: readonly string[], members: Iterable<[string, Shape]>) => {
    for (const [name, shape] of members) {
      const path = parsePath(formatPath([...names, name] as unknown as readonly [string]));
      // A name with a dot in it would mean another attribute.
      if (path?.length !== names.length + 1 || secretName.test(name)) continue;
      if (names.length === 0 && references.has(name)) continue;
      if (shape.isProse) paths.push(formatPath(path));
      else if (names.length === 0 && shape.kinds.length === 1) collect([name], shape.members);
    }
  };
  collect([], attributesOf(survey));
  return paths.slice(0, maxSearched);
}

/** What is to say about ids that are not as they are in the data. */
export function notesOnIds({ unfit, idMember, hasMixedIds }: Survey): string[] {
  const notes: string[] = [];
  if (hasMixedIds) notes.push("Some ids are numbers and others are texts, so all of them become texts.");
  if (unfit.count > 0)
    notes.push(
      `${unfit.count.toLocaleString("en")} of the ids cannot be ids here, such as ${shortJson(unfit.example)}. The option "--ids keep-in:oldId" of the import gives new ones.`,
    );
  if (idMember !== undefined)
    notes.push(`The ids are in "${idMember}". The option "--id ${idMember}" of the import reads them.`);
  return notes;
}
