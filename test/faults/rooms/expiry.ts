/** Faults of resources that expire. */
import type { Fault } from "../faults.ts";

const noticedBy = "test/http/expiry";

export const expiryFaults: readonly Fault[] = [
  {
    name: "expires-late",
    what: "A resource still exists at the moment at which it expires.",
    noticedBy,
    replacements: [['key <= keyOf({ ms: now, rest: "" })', 'key < keyOf({ ms: now, rest: "" })']],
  },
  {
    name: "reads-expired",
    what: "A read finds a resource that has expired and is not deleted yet.",
    noticedBy,
    replacements: [
      [
        "return stored instanceof Promise ? stored.then(live) : live(stored);",
        "void live;\n    return stored;",
      ],
    ],
  },
  {
    name: "totals-with-expired",
    what: "The total of a whole collection counts expired resources.",
    noticedBy,
    replacements: [["return (whole.total ?? 0) - (expired.total ?? 0);", "return whole.total ?? 0;"]],
  },
  {
    name: "expired-state",
    what: "A list without its expired resources has the entity tag of the list with them.",
    noticedBy,
    replacements: [
      [
        'listed === "everything" && isOfOne && page.hidesExpired !== true',
        'listed === "everything" && isOfOne',
      ],
      ["smallest.hidesExpired === true ? undefined : ifUnmodified(", "ifUnmodified("],
    ],
  },
  {
    name: "figures-of-expired",
    what: "Figures without expired resources have the entity tag of those with them.",
    noticedBy,
    replacements: [
      ['listed === "everything" && isOfOne && !hidesExpired', 'listed === "everything" && isOfOne'],
    ],
  },
  {
    name: "related-expired",
    what: "Filters, sorts and groups through relations find expired resources.",
    noticedBy,
    replacements: [
      [
        "return { ...each, filter: own === undefined ? inner : joined(inner, own) };",
        "void own;\n      return { ...each, filter: inner };",
      ],
    ],
  },
  {
    name: "embeds-expired-referrers",
    what: "The expired resources that refer to another one are embedded.",
    noticedBy,
    replacements: [
      [
        "return store.referring(live === undefined ? query : { ...query, filter: joined(query.filter, live) });",
        "void live;\n      return store.referring(query);",
      ],
    ],
  },
  {
    name: "keeps-embedded-expired",
    what: "A kept response goes on to embed a resource that has expired.",
    noticedBy,
    replacements: [
      [
        "targetsOf(listing.asked.embeds).some(({ expires }) => expires !== undefined)",
        "targetsOf(listing.asked.embeds).length < 0",
      ],
    ],
  },
  {
    name: "refers-to-expired",
    what: "A new reference can lead to a resource that has expired.",
    noticedBy,
    replacements: [
      [
        'if (visible === "everything" && !expires) return false;',
        'if (visible === "everything") return false;',
      ],
    ],
  },
  {
    name: "holds-expired-values",
    what: "An expired resource keeps its unique values until it is deleted.",
    noticedBy,
    replacements: [
      [
        "const store = (service.isBatch === true ? undefined : service.expiry) ?? service.store;",
        "const { store } = service;",
      ],
    ],
  },
  {
    name: "batch-in-parts",
    what: "Each operation of a batch in a collection that expires is a commit of its own.",
    noticedBy: "test/http/expiry-writes",
    replacements: [["(service.isBatch === true ? undefined : service.expiry)", "service.expiry"]],
  },
  {
    name: "holder-by-writer",
    what: "The delete of an expired resource whose values a write takes is noted as the writer's.",
    noticedBy,
    replacements: [["replaced: text.length, principal: expiryPrincipal }", "replaced: text.length }"]],
  },
  {
    name: "id-of-expired",
    what: "A create with the id of an expired resource waits for its delete.",
    noticedBy,
    replacements: [["await service.expiry?.release(key);", "await undefined;"]],
  },
  {
    name: "imports-beside-expired",
    what: "An import is refused because of the values of an expired resource.",
    noticedBy,
    replacements: [
      ["await service.expiry?.sweep([collection.name, ", "await service.expiry?.sweep([].slice(0, 0) && ["],
    ],
  },
  {
    name: "sweeps-one-slice",
    what: "A sweep deletes only the resources of its first commit.",
    noticedBy,
    replacements: [["      if (!page.more) return;\n      page =", "      return;\n      page ="]],
  },
  {
    name: "restores-expired",
    what: "A restore brings back a resource that has expired, so it is gone at once.",
    noticedBy,
    replacements: [
      [
        "service.expiry?.isOver(key.collection, next) === true",
        "service.expiry?.isOver(key.collection, next) === undefined",
      ],
    ],
  },
  {
    name: "past-with-expired",
    what: "A list as of a time has resources that had expired by then.",
    noticedBy,
    replacements: [
      [
        "return this.#store.list({ ...query, filter: joined(filter, live) });",
        "void live;\n      return this.#store.list(query);",
      ],
    ],
  },
  {
    name: "tells-expiry",
    what: "Callers learn the name of an attribute that is hidden from them, because resources expire by it.",
    noticedBy,
    replacements: [["expires !== undefined && isSeen(expires.path) && {", "expires !== undefined && {"]],
  },
  {
    name: "new-expiry-unasked",
    what: "A new `expires` deletes resources without being asked.",
    noticedBy: "test/commands/expiry",
    replacements: [
      ["      await requireNoneExpired(store, collection, Date.now());\n    }\n    plan", "    }\n    plan"],
    ],
  },
  {
    name: "exports-expired",
    what: "An export has expired resources.",
    noticedBy: "test/commands/expiry",
    replacements: [
      [
        "if (collection === undefined || !hasExpired(collection, each.text, now())) yield each;",
        "yield each;",
      ],
    ],
  },
  {
    name: "cascades-into-restrict",
    what: "A service starts although references restrict what would be deleted with expired resources.",
    noticedBy: "test/collection/expiry",
    replacements: [['if (onDelete === "cascade") deleted.add(from);', ""]],
  },
  {
    name: "all-sweep",
    what: "Each instance on a database deletes expired resources, whatever the lease says.",
    noticedBy: "test/postgres/expiry",
    store: "postgres",
    replacements: [["if (sweeps && (await this.#lease.take()))", "if (sweeps)"]],
  },
];
