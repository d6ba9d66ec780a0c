/** Faults of related resources: `embed`, and filters through references. */
import type { Fault } from "../faults.ts";

const oracle = "test/http/related-oracle";
const examples = "test/http/related";
const bounds = "test/http/related-bounds";

export const relatedFaults: readonly Fault[] = [
  {
    name: "embed-without-rules",
    what: "A response embeds resources that the caller cannot list.",
    noticedBy: oracle,
    test: "callers that read the same list again and again each get their own",
    replacements: [
      [
        "  const query = { embed, parents, listed };\n  const groups = ids",
        '  const query = { embed, parents, listed: "everything" } as const;\n  const groups = ids',
      ],
    ],
  },
  {
    name: "embed-hidden-attributes",
    what: "A response embeds resources with the attributes that are hidden from the caller.",
    noticedBy: oracle,
    test: "callers that read the same list again and again each get their own",
    replacements: [["partOf(item.text, embed.fields, embed.target.visibility)", "item.text"]],
  },
  {
    name: "embed-limit-plus-one",
    what: "An inverse relation has one resource more than its limit, if so many exist.",
    noticedBy: oracle,
    test: "random lists and resources contain what a reading of everything in memory says",
    replacements: [
      [
        "if (group.items.length === limit) group.more = true;",
        "if (group.items.length > limit) group.more = true;",
      ],
    ],
  },
  {
    name: "embed-cut-array-not-said",
    what: "A response does not say that an array of related resources was cut.",
    noticedBy: examples,
    test: "puts related resources under the names of the relations",
    replacements: [
      [
        "if (isList && (group.more || texts.length < group.items.length))",
        "if (isList && texts.length < group.items.length)",
      ],
    ],
  },
  {
    name: "embed-tag-of-the-list-only",
    what: "The entity tag of a list does not change with its embedded resources.",
    noticedBy: examples,
    test: "has an entity tag of its content, and no time",
    replacements: [
      [
        "contentValidators(texts, [page.more, page.total],",
        "contentValidators(page.items.map(({ text }) => text), [page.more, page.total],",
      ],
    ],
  },
  {
    name: "embed-query-for-each-resource",
    what: "The service reads each referenced resource with its own query.",
    noticedBy: bounds,
    test: "embedding 100 resources takes one query, and one for each relation at each level",
    replacements: [
      [
        "const page = await list(ids);",
        "for (const id of ids) await list([id]);\n  const page = await list(ids);",
      ],
    ],
  },
  {
    name: "embed-in-one-turn",
    what: "The service parses each text for each of its references, and all in one turn of the event loop.",
    noticedBy: bounds,
    test: "the text of a resource is parsed as often for ten references as for one",
    replacements: [
      [
        "ids.set(id, idsIn(resource, embed));\n    const paused = pause(text.length);",
        "ids.set(id, idsIn(JSON.parse(text), embed));\n    const paused = resource === undefined ? pause(text.length) : undefined;",
      ],
    ],
  },
  {
    name: "embed-skips-after-a-round",
    what: "The second query for a relation leaves out a resource.",
    noticedBy: bounds,
    test: "a page ends where a relation has 1,000 resources or takes 10 queries, and its link leads to the rest",
    replacements: [["(round + 1) * perRound).map", "(round + 1) * perRound - Math.sign(round)).map"]],
  },
  {
    name: "related-index-of-strings",
    what: "Without a schema, an index finds only the references that are strings.",
    noticedBy: "test/http/nested",
    test: "without a schema, a reference by a number and by a string lead to the same resource",
    replacements: [
      [`(type === "any" && query.ids.some`, `(type === "any" && query.ids.length === 0 && query.ids.some`],
    ],
  },
  {
    name: "related-filter-without-rules",
    what: "A filter through a reference matches by resources that the caller cannot list.",
    noticedBy: oracle,
    test: "what a caller cannot list has no influence on what they get",
    replacements: [["filter: allOf([inner, listed]) };", "filter: inner };"]],
  },
  {
    name: "related-sort-without-rules",
    what: "A list is sorted and grouped by related resources that the caller cannot list.",
    noticedBy: oracle,
    test: "the pages of a list that related resources sort have each resource once, in its order",
    replacements: [
      [
        "{ ...key, through: listedThrough(service, caller, key.through) } as StoreKey",
        '{ ...key, through: { kind: "related", relation: key.through, filter: { kind: "and", filters: [] } } } as StoreKey',
      ],
    ],
  },
  {
    name: "related-sort-cursor-of-the-first",
    what: "The next page of a list that related resources sort starts after the first resource of the page.",
    noticedBy: oracle,
    test: "the pages of a list that related resources sort have each resource once, in its order",
    replacements: [
      ["page.positions?.[page.items.length - 1] ?? positionAfter", "page.positions?.[0] ?? positionAfter"],
    ],
  },
  {
    name: "alias-hides-attribute",
    what: "The parameter `_embed` embeds although the schema declares an attribute with this name.",
    noticedBy: "test/http/embed-aliases",
    test: "stay unknown names where the schema declares an attribute with the name",
    replacements: [
      ["if (!isListParameter(name) || isAttribute(name, collection))", "if (!isListParameter(name))"],
    ],
  },
  {
    name: "alias-embeds-five",
    what: "A client of json-server gets only five of its comments.",
    noticedBy: "test/http/embed-aliases",
    test: "bring up to 100 related resources, with a link to the next ones",
    replacements: [['name === "embed" ? defaultEmbedLimit : aliasEmbedLimit', "defaultEmbedLimit"]],
  },
  {
    name: "alias-in-feed-link",
    what: "The link from a list to its events has the parameter `_embed`, which events refuse.",
    noticedBy: "test/http/embed-aliases",
    test: "are refused where embed is, and leave no trace in the link to the events",
    replacements: [['  "at",\n  ...embedParameters,\n  "count",', '  "at",\n  "embed",\n  "count",']],
  },
];
