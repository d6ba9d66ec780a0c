/** Names for the operations and schemas of collections: readable in generated code, and unique in the document. */

/** The tag of operations that belong to no collection. */
export const serviceTag = "Service";

/** The names for one resource of a collection and for several, such as `Article` and `Articles`. */
export interface Names {
  one: string;
  many: string;
}

/** The names of the operations of a collection. */
export function operationIds({ one, many }: Names) {
  return {
    list: `list${many}`,
    query: `query${many}`,
    create: `create${one}`,
    read: `get${one}`,
    replace: `replace${one}`,
    patch: `patch${one}`,
    delete: `delete${one}`,
    replaceByKey: `replace${one}ByKey`,
    patchByKey: `patch${one}ByKey`,
    deleteByKey: `delete${one}ByKey`,
    changes: `list${one}Changes`,
    restore: `restore${one}`,
    events: `list${one}Events`,
    bulk: `change${many}`,
    deleted: `listDeleted${many}`,
    queryDeleted: `queryDeleted${many}`,
    restoreDeleted: `restoreDeleted${many}`,
    import: `import${many}`,
  } as const;
}

/** The names of the schemas of a collection. */
export function schemaNames({ one }: Names) {
  return {
    resource: one,
    input: `${one}Input`,
    part: `${one}Part`,
    patch: `${one}Patch`,
    page: `${one}Page`,
    filter: `${one}Filter`,
    embedded: `${one}Embedded`,
    deleted: `${one}Deleted`,
    deletedPage: `${one}DeletedPage`,
    event: `${one}Event`,
  } as const;
}

/** Names for a collection that are not `taken` yet. Adds them to `taken`. */
export function namesFor(collection: string, taken: Set<string>): Names {
  const many = pascalCase(collection);
  for (let n = 1; ; n++) {
    const end = n <= 2 ? "" : String(n - 1);
    const names = { one: (n === 1 ? singular(many) : many) + end, many: many + end };
    const all = [...Object.values(operationIds(names)), ...Object.values(schemaNames(names))].map(folded);
    if (all.some((name) => taken.has(name))) continue;
    for (const name of all) taken.add(name);
    return names;
  }
}

/** A name for comparisons without case: generators make files of these names, and some file systems ignore case. */
export function folded(name: string): string {
  return name.toLowerCase();
}

/** A name as part of the names in generated code. */
export function pascalCase(name: string): string {
  return name
    .split(/[_-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** The singular of an English word, for most words. A wrong guess is ugly, but does no harm. */
function singular(name: string): string {
  if (/(?:ss|us|is|news|series|data)$/i.test(name)) return name;
  if (/[^aeiou]ies$/i.test(name)) return name.replace(/ies$/i, "y");
  if (/(?:x|z|ch|sh|ss)es$/i.test(name)) return name.slice(0, -2);
  if (/people$/i.test(name))
    return name.replace(/people$/i, (word) => (word.startsWith("P") ? "Person" : "person"));
  return /s$/i.test(name) && name.length > 2 ? name.slice(0, -1) : name;
}
