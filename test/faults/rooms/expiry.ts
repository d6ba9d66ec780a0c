/** Faults of resources that expire. */
import type { Fault } from "../faults.ts";

const noticedBy = "test/http/expiry";

export const expiryFaults: readonly Fault[] = [
  {
    name: "expires-late",
    what: "A resource still exists at the moment at which it expires.",
    noticedBy,
    test: "a resource is 404 for reads and writes",
    replacements: [['key <= keyOf({ ms: now, rest: "" })', 'key < keyOf({ ms: now, rest: "" })']],
  },
  {
    name: "reads-expired",
    what: "A read finds a resource that has expired and is not deleted yet.",
    noticedBy,
    test: "a resource is 404 for reads and writes",
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
    test: "lists, totals, figures, searches and counts leave it out, before it is deleted",
    replacements: [["return (whole.total ?? 0) - (expired.total ?? 0);", "return whole.total ?? 0;"]],
  },
  {
    name: "expired-state",
    what: "A list without its expired resources has the entity tag of the list with them.",
    noticedBy,
    test: "the entity tags of lists and figures change, and no kept page is sent",
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
    test: "the entity tags of lists and figures change, and no kept page is sent",
    replacements: [
      ['listed === "everything" && isOfOne && !hidesExpired', 'listed === "everything" && isOfOne'],
    ],
  },
  {
    name: "related-expired",
    what: "Filters, sorts and groups through relations find expired resources.",
    noticedBy,
    test: "it counts as missing for embedding, related filters, sorts and groups",
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
    test: "what refers to a resource is embedded until it expires",
    replacements: [
      [
        "    return this.#store.referring(\n      live === undefined ? query",
        "    return this.#store.referring(\n      live === undefined || true ? query",
      ],
    ],
  },
  {
    name: "keeps-embedded-expired",
    what: "A kept response goes on to embed a resource that has expired.",
    noticedBy,
    test: "it counts as missing for embedding, related filters, sorts and groups",
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
    test: "no new reference can lead to it, but one that is there can stay",
    replacements: [
      [
        'if (guard.visible === "everything" && !expires && !refusesMissing) return false;',
        'if (guard.visible === "everything" && !refusesMissing) return false;',
      ],
    ],
  },
  {
    name: "holds-expired-values",
    what: "An expired resource keeps its unique values until it is deleted.",
    noticedBy,
    test: "a write that needs a unique value deletes its holder in the same commit",
    replacements: [
      ["    commit,\n    read: (key) => reads.read(key),", "    read: (key) => reads.read(key),"],
    ],
  },
  {
    name: "batch-in-parts",
    what: "Each operation of a batch in a collection that expires is a commit of its own.",
    noticedBy: "test/http/expiry-writes",
    test: "is a part of its batch",
    replacements: [
      [
        "store: overlay.store,",
        "store: withMethods(overlay.store, { commit: (each) => service.store.commit(each) }),",
      ],
    ],
  },
  {
    name: "holder-by-writer",
    what: "The delete of an expired resource whose values a write takes is noted as the writer's.",
    noticedBy,
    test: "a write that needs a unique value deletes its holder in the same commit",
    replacements: [["replaced: text.length, principal: expiryPrincipal }", "replaced: text.length }"]],
  },
  {
    name: "id-of-expired",
    what: "A create with the id of an expired resource waits for its delete.",
    noticedBy,
    test: "a create with its id goes on above its version",
    replacements: [["await service.expired.release(key);", "await undefined;"]],
  },
  {
    name: "imports-beside-expired",
    what: "An import is refused because of the values of an expired resource.",
    noticedBy,
    test: "an import gets them",
    replacements: [
      ["await service.expired.sweep([collection.name, ", "await service.expired.sweep([].slice(0, 0) && ["],
    ],
  },
  {
    name: "sweeps-one-slice",
    what: "A sweep deletes only the resources of its first commit.",
    noticedBy,
    test: "deletes more than one commit can",
    replacements: [["      if (!page.more) return;\n      page =", "      return;\n      page ="]],
  },
  {
    name: "restores-expired",
    what: "A restore brings back a resource that has expired, so it is gone at once.",
    noticedBy,
    test: "a restore sets no new date, and says so",
    replacements: [
      [
        "if (service.expired.isOver(key.collection, next))",
        "if (service.expired.isOver(key.collection, next) === undefined)",
      ],
    ],
  },
  {
    name: "past-with-expired",
    what: "A list as of a time has resources that had expired by then.",
    noticedBy,
    test: "a list as of a time has the resources that had not expired then",
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
    test: "only those who see the attribute learn its name",
    replacements: [["expires !== undefined && isSeen(expires.path) && {", "expires !== undefined && {"]],
  },
  {
    name: "new-expiry-unasked",
    what: "A new `expires` deletes resources without being asked.",
    noticedBy: "test/commands/expiry",
    test: "a new expires deletes no resource unless the start accepts it",
    replacements: [
      ["      await requireNoneExpired(store, collection, Date.now());\n    }\n    plan", "    }\n    plan"],
    ],
  },
  {
    name: "exports-expired",
    what: "An export has expired resources.",
    noticedBy: "test/commands/expiry",
    test: "an export leaves out what has expired, and an import gets its values",
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
    test: "a reference that restricts what goes with an expired resource",
    replacements: [['if (onDelete === "cascade") deleted.add(from);', ""]],
  },
  {
    name: "all-sweep",
    what: "Each instance on a database deletes expired resources, whatever the lease says.",
    noticedBy: "test/postgres/expiry",
    test: "one instance sweeps, and another takes over when its lease has expired",
    store: "postgres",
    replacements: [["if (sweeps && (await this.#lease.take()))", "if (sweeps)"]],
  },
];
