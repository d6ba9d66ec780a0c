/** Faults of `http`. */
import type { Fault } from "../faults.ts";

export const httpFaults: readonly Fault[] = [
  {
    name: "constant-without-type",
    what: "A constant in the OpenAPI document has no type, so some generators write code that does not compile.",
    noticedBy: "test/http/openapi",
    test: "are in a form that generators of code understand",
    replacements: [["type: typeof value, const: value };", "const: value };"]],
  },
  {
    name: "csv-form-ignored",
    what: "A list that is not CSV ignores `bom` and `delimiter`.",
    noticedBy: "test/http/lists-formats",
    test: "needs the format CSV",
    replacements: [
      ["if (table[name] !== undefined) violations.add(", "if (table[name] === undefined) violations.add("],
    ],
  },
  {
    name: "embedded-anywhere",
    what: "In an application, people sign in unencrypted at an address that others can reach.",
    noticedBy: "test/http/embed-users",
    test: "an application that others can reach serves users only at loopback addresses and names",
    replacements: [
      ["isForLoopback: isEmbedded && config.isLocal", "isForLoopback: !isEmbedded && config.isLocal"],
    ],
  },
  {
    name: "hooks-make-rights",
    what: "A hook of an application that changes its caller changes the rights of later requests.",
    noticedBy: "test/http/embed-users",
    test: "what a hook changes in its caller changes no right",
    replacements: [
      [
        "    roles: [...roles],\n    claims: structuredClone(claims),",
        "    roles: roles as string[],\n    claims: claims as Record<string, unknown>,",
      ],
    ],
  },
  {
    name: "fields-page-repeats",
    what: "A page that is made of several pages of the store contains resources twice.",
    noticedBy: "test/http/lists-fields",
    test: "make a page as long as what it sends, whatever the store reads",
    replacements: [["const end = last.items.at(-1);", "const end = last.items.at(-2);"]],
  },
  {
    name: "lists-one-caller",
    what: "The slow lists of all addresses take turns as if they were of one caller.",
    noticedBy: "test/http/lists-gone",
    test: "without credentials, lists from one address are of one caller, and those from another address are not",
    replacements: [
      ["networkOf(client.ip)}` : `principal", "networkOf(client.ip && undefined)}` : `principal"],
    ],
  },
  {
    name: "holder-shown",
    what: "A refused unique value names the other resource to callers who cannot read it.",
    noticedBy: "test/http/unique-combinations",
    test: "points at every attribute, and names the other resource only to those who can read it",
    replacements: [['guard.may("read", stored) ? path', "collection.name ? path"]],
  },
  {
    name: "accept-zero",
    what: "A format that the Accept header excludes with q=0 is used.",
    noticedBy: "test/http/negotiation",
    test: "text/html rules JSON out",
    replacements: [
      [
        "if (quality > (best?.quality ?? 0)) best =",
        "if (best === undefined || quality > best.quality) best =",
      ],
    ],
  },
  {
    name: "body-limit",
    what: "A body that is exactly as long as the limit is refused.",
    noticedBy: "test/http/limits",
    test: "content of the limit is taken, and one byte more is a 413 that closes",
    replacements: [["if (bytes > maxBytes) return refuse(", "if (bytes >= maxBytes) return refuse("]],
  },
  {
    name: "console-nonce",
    what: "Every page of the console has the same nonce.",
    noticedBy: "test/http/console",
    test: "has another nonce in every response",
    replacements: [
      ["const nonce = randomBytes(18).toString", "const nonce = randomBytes(18).fill(1).toString"],
    ],
  },
  {
    name: "hooked-body-ignored",
    what: "In an application of Fastify, the service stores the body as it was sent, although a hook has changed it.",
    noticedBy: "test/http/embed-hooks",
    test: "what a hook makes of the body is stored, and what is not JSON is refused",
    replacements: [["return isSame ? this.#content :", "return isSame || raw.complete ? this.#content :"]],
  },
  {
    name: "hooked-import-body",
    what: "A guard of an application takes the body of an import for an empty one.",
    noticedBy: "test/http/embed-hooks",
    test: "a guard in preValidation that an application adds before the plugin reads the body of every write",
    replacements: [
      ['return unreadable(importAdvice, { code: "HOLDFAST_IMPORT", status: 500 });', "return undefined;"],
    ],
  },
  {
    name: "hooked-body-held",
    what: "A body that a hook of an application refuses counts as held for ever.",
    noticedBy: "test/http/embed-hooks",
    test: "bodies that a hook refuses use no memory afterwards",
    replacements: [['connection.off("close", done);\n    callback();', 'connection.off("close", done);']],
  },
  {
    name: "cors-etag",
    what: "CORS does not expose ETag, so scripts of other origins cannot read it.",
    noticedBy: "test/http/hosts-and-cors",
    test: "to an allowed origin may be read by it, errors too",
    replacements: [["Content-Location, ETag, Allow,", "Content-Location, Allow,"]],
  },
  {
    name: "dates-beside-tags",
    what: "If-Modified-Since is applied although the request has If-None-Match.",
    noticedBy: "test/http/conditional",
    test: "goes by dates where there are no ETags",
    replacements: [
      [
        "} else if (readAt !== undefined && isPublic(current, readAt)) {",
        "}\n  if (readAt !== undefined && isPublic(current, readAt)) {",
      ],
    ],
  },
  {
    name: "quota-twice",
    what: "A request with an invalid credential counts twice against the quota of its address.",
    noticedBy: "test/http/rate",
    test: "counts a request with an invalid credential once",
    replacements: [
      [
        "} catch (problem) {\n    return refuse(problem);",
        "} catch (problem) {\n    count(service, request, undefined);\n    return refuse(problem);",
      ],
    ],
  },
  {
    name: "silent-limit",
    what: "A limit above the bound is lowered, so the client takes a part of the list for all of it.",
    noticedBy: "test/http/page-limit",
    test: "limit in /api/v1/topics?limit=4",
    replacements: [["(number <= bounds.most || isContinued)", "(number <= bounds.most || true)"]],
  },
  {
    name: "dead-links",
    what: "After `limits.page` was lowered, the next pages of lists that clients were reading are refused.",
    noticedBy: "test/http/page-limit",
    test: "the next page of a list, also for QUERY",
    replacements: [["(number <= bounds.most || isContinued)", "(number <= bounds.most)"]],
  },
  {
    name: "last-link",
    what: "The link to the last page leads to an empty page when the total is a multiple of the limit.",
    noticedBy: "test/http/lists-links",
    test: "from every page of any list, links lead to the rest of that list",
    replacements: [["Math.floor((total - 1) / limit) * limit", "Math.floor(total / limit) * limit"]],
  },
  {
    name: "history-hidden",
    what: "An earlier version of a resource contains the attributes that the caller cannot see.",
    noticedBy: "test/http/access/attributes",
    test: "is in no answer to others: not to reads, lists, tables, history or writes",
    replacements: [
      [
        "return isVisible ? foundResult(service, operation, request, state) : notFound;",
        `const found = foundResult(service, operation, request, stored);
  return isVisible ? (found.kind === "found" ? { ...found, stored } : found) : notFound;`,
      ],
    ],
  },
  {
    name: "restore-hidden",
    what: "A restore also restores the attributes that the caller cannot see.",
    noticedBy: "test/http/access/attributes",
    test: "is in no answer to others: not to reads, lists, tables, history or writes",
    replacements: [
      ["!visibility.hidden.has(name) && !visibility.readOnly.has(name)", "!visibility.readOnly.has(name)"],
    ],
  },
  {
    name: "batches-deadlock",
    what: "Two batches that change the same resources in opposite orders wait for each other.",
    noticedBy: "test/http/batch-races",
    test: "batches that change the same resources in opposite orders do not wait for each other",
    replacements: [["...[...names].sort()];", "...names];"]],
  },
  {
    name: "ended-stays",
    what: "What a batch ends keeps its unique value until the next sweep.",
    noticedBy: "test/http/expiry-writes",
    test: "frees its unique value and its id for later operations, and what refers to it follows",
    replacements: [
      ["if (stored !== undefined && isOver(key.collection, stored.text)) end(key, stored);", ""],
    ],
  },
  {
    name: "earlier-addresses",
    what: "Every reader of profiles sees the earlier addresses and roles of accounts.",
    noticedBy: "test/capabilities/users/http/mirror",
    test: "only administrators see what a profile showed earlier: in events, versions, lists at a time and the trash",
    replacements: [
      ["administers(service, caller)) return collection;", 'collection.name !== "") return collection;'],
    ],
  },
  {
    name: "imports-in-line",
    what: "All imports of one caller come before that of another one that came later.",
    noticedBy: "test/http/write-turns",
    test: "12 imports of one caller do not keep another one from its turn",
    replacements: [['run("imports", work, ticket.caller())', 'run("imports", work)']],
  },
  {
    name: "key-free-too-early",
    what: "An Idempotency-Key is free for another request as soon as its first request has timed out, although the commit is still in progress.",
    noticedBy: "test/http/idempotency-stuck",
    test: "a key whose write may still happen is held until that is known, and then answered with it",
    replacements: [
      [
        "if (idempotency.commit === undefined) release();\n    else idempotency.commit.then(release, release);",
        "release();",
      ],
    ],
  },
  {
    name: "retry-without-read",
    what: "A change that is overtaken does not decide again, so it is overtaken every time.",
    noticedBy: "test/postgres/contended",
    test: "no patch of two services to one resource is lost or gives up",
    replacements: [["() => attemptNext(write, turn)", "((first) => () => first)(attemptNext(write, turn))"]],
  },
  {
    name: "kept-page-of-another-view",
    what: "A caller gets a list with attributes that are hidden from this caller, because another caller has just requested it.",
    noticedBy: "test/http/kept-pages",
    test: "lists of one page do not get each other's response, in whichever order they are requested",
    replacements: [["list.collection.visibility === listing.collection.visibility", "true"]],
  },
  {
    name: "kept-page-of-another-service",
    what: "An empty list has the links of another service in the process.",
    noticedBy: "test/http/kept-pages",
    test: "a collection that does not exist has its own links in each service of a process",
    replacements: [["page === emptyPage || ", ""]],
  },
  {
    name: "late-content-old-state",
    what: "A write whose content arrives late is decided from the state before the content.",
    noticedBy: "test/http/reads-of-writes",
    test: "a write whose content has arrived reads its resource once",
    replacements: [
      ["if (!request.content.isComplete) forget();", "if (request.content.isComplete) forget();"],
    ],
  },
  {
    name: "reads-twice",
    what: "A write reads its resource twice, although its content has arrived.",
    noticedBy: "test/http/reads-of-writes",
    test: "a write whose content has arrived reads its resource once",
    replacements: [["(isOld ? undefined : found) ??", "(isOld ? found : undefined) ??"]],
  },
  {
    name: "turn-until-written",
    what: "A change of a resource waits for the flush of the one before it.",
    noticedBy: "test/http/shared-flushes",
    test: "a change that fails takes back what was decided after it, and this is decided again",
    replacements: [
      [
        "if (pending.get(name) === made) pending.delete(name);\n      });",
        "if (pending.get(name) === made) pending.delete(name);\n      });\n      await committed;",
      ],
    ],
  },
  {
    name: "batch-until-written",
    what: "A batch waits for the flush of the change before it, and later ones wait for its flush.",
    noticedBy: "test/http/shared-flushes",
    test: "a batch that fails takes back what was decided after it",
    replacements: [
      [
        'operations.every(({ method }) => method !== "DELETE")',
        'operations.every(({ method }) => method === "DELETE")',
      ],
    ],
  },
  {
    name: "pending-taken-for-written",
    what: "A change that changes nothing is answered with success, although the commit of the state that it found has failed.",
    noticedBy: "test/http/shared-flushes",
    test: "a change that changes nothing is answered when the state that it found is on disk",
    replacements: [
      ["committed.then((all) => (all.every(Boolean) ? finished() : overtaken))", "committed.then(finished)"],
    ],
  },
  {
    name: "pending-text-not-compared",
    what: "A change is decided from a state that was not written, and overwrites what another instance has written in its place.",
    noticedBy: "test/http/shared-flushes",
    test: "a version that another write has made instead is not taken for the expected one",
    replacements: [["resource.now?.text !== expectText", "resource.now === undefined"]],
  },
  {
    name: "overtaken-refused",
    what: "A write that another instance overtakes is refused as if a precondition of its client had failed.",
    noticedBy: "test/postgres/contended",
    test: "no batch of two services that changes one resource is lost or gives up",
    replacements: [
      ['if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return overtaken;', ""],
    ],
  },
  {
    name: "large-read-keeps-memory",
    what: "The memory that a large read holds is never given back to the budget.",
    noticedBy: "test/http/large-read-memory",
    test: "gives back what it holds when it ends, so that other ones can begin",
    replacements: [["if (!this.#isPart) this.#admission.held -= this.#further;", ""]],
  },
  {
    name: "ticket-keeps-place",
    what: "A request counts as in progress for ever.",
    noticedBy: "test/http/large-read-memory",
    test: "gives back everything when it ends, and only once",
    replacements: [["if (this.#isInProgress) this.#admission.requests.own--;", ""]],
  },
  {
    name: "lease-not-counted",
    what: "With several threads, a caller can exceed its quota, because the main thread does not count what it leases.",
    noticedBy: "test/http/shared-limits",
    test: "together never let a caller have more than its quota, and refuse it only after nine tenths",
    replacements: [["window.left -= requests;", ""]],
  },
  {
    name: "response-memory-twice",
    what: "The memory of a response is given back twice: when it has been sent, and again when its connection closes.",
    noticedBy: "test/http/read-responses",
    test: "the memory of responses that were read slowly is free once, and not again when their connection closes",
    replacements: [
      [
        'response.off("finish", done);\n      connection.off("close", done);',
        'response.off("finish", done);',
      ],
    ],
  },
  {
    name: "update-counts-hidden-from-zero",
    what: "$increment of a write-only attribute counts from 0 and overwrites its value.",
    noticedBy: "test/http/access/updates",
    test: "a write-only attribute can be set and removed, and nothing else",
    replacements: [["requireNone(unreadableViolations(patch, visibility));", ""]],
  },
  {
    name: "bulk-counts-unlisted",
    what: "A bulk change that matches too many also counts resources that the caller cannot list.",
    noticedBy: "test/http/access/bulk",
    test: "tells nothing of resources that the caller cannot list: not by numbers, filters, ids or dry runs",
    replacements: [
      [
        "readPage(service, { ...query, limit: 1, count: true }",
        "readPage(service, { ...all, limit: 1, count: true }",
      ],
    ],
  },
  {
    name: "bulk-size-after",
    what: "A bulk change is limited only by the size of the resources before it.",
    noticedBy: "test/http/bulk-sizes",
    test: "more than 4 MiB after the change is a 413 and changes nothing",
    replacements: [
      [
        "bytes += Math.max(Buffer.byteLength(current.text), Buffer.byteLength(next));",
        "bytes += Buffer.byteLength(current.text);",
      ],
    ],
  },
  {
    name: "import-dry-run-writes",
    what: "A dry run of an import writes what it has checked.",
    noticedBy: "test/http/imports",
    test: "writes nothing, creates no collection, and reports what an import would do",
    replacements: [["if (asked.dryRun) await load.tryOut();", "if (asked.dryRun) await load.finish();"]],
  },
  {
    name: "keys-for-all",
    what: "Callers who do not administer the service can create API keys.",
    noticedBy: "test/http/administration/keys",
    test: "do not exist for a caller without a credential",
    replacements: [
      [
        'who: "administrators",\n  exists: ({ settings }: Described) => settings.hasKeys,',
        'who: "everyone",\n  exists: ({ settings }: Described) => settings.hasKeys,',
      ],
    ],
  },
  {
    name: "key-of-administrators",
    what: "An administrator can give a key any role, also that of administrators.",
    noticedBy: "test/http/administration/keys",
    test: "cannot have the role of administrators",
    replacements: [
      ["if (roles.includes(role)) return undefined;", "if (roles.length > 0) return undefined;"],
    ],
  },
  {
    name: "hidden-resource-answered",
    what: "An answer about access differs between a hidden resource and one that does not exist.",
    noticedBy: "test/http/administration/access",
    test: "whether a hidden resource exists, and the rules that hide it",
    replacements: [
      [
        "const passes = about.state !== undefined && includes(visible, about.state);",
        'const passes = about.state !== undefined && visible !== "nothing";',
      ],
    ],
  },
  {
    name: "count-of-hidden",
    what: "The description of a collection counts resources that the caller cannot list.",
    noticedBy: "test/http/administration/collections",
    test: "have a count only if the caller can list every resource, and rules only for administrators",
    replacements: [
      ['const isCounted = guard.listed === "everything";', 'const isCounted = guard.listed !== "nothing";'],
    ],
  },
  {
    name: "schema-of-restricted",
    what: "The description of a collection has definitions that only restricted attributes use.",
    noticedBy: "test/http/administration/collections",
    test: "show nothing of attributes that are restricted to other roles",
    replacements: [
      [
        "return { root, input: hidden.length > 0 ? withoutUnused(input, pointer) : input, isListed };",
        "return { root, input, isListed };",
      ],
    ],
  },
  {
    name: "import-for-all",
    what: "Callers who do not administer the service can import.",
    noticedBy: "test/http/import-limits",
    test: "with auth, administrators only; for all others the path does not exist",
    replacements: [
      [
        'isAdministrative: who === "administrators",',
        'isAdministrative: who === "administrators" && !path.endsWith("/_import"),',
      ],
      [
        'if (access === undefined || who === "public" ||',
        'if (access === undefined || who === "administrators" ||',
      ],
    ],
  },
  {
    name: "rewind-for-all",
    what: "Callers who do not administer the service can rewind.",
    noticedBy: "test/http/rewind-bounds",
    test: "with auth, administrators only; for all others the path does not exist",
    replacements: [
      [
        'path: "/_rewind",\n  method: "POST",\n  who: "administrators",',
        'path: "/_rewind",\n  method: "POST",\n  who: "everyone",',
      ],
    ],
  },
  {
    name: "rewind-changes-more",
    what: "A rewind changes one resource more than its max allows.",
    noticedBy: "test/http/rewind",
    test: "if more resources would change than its max, and the max in the message works",
    replacements: [["if (length > max) throw tooMany", "if (length > max + 1) throw tooMany"]],
  },
  {
    name: "hint-tells-all",
    what: "The hint about a misspelled collection names collections that the caller cannot list.",
    noticedBy: "test/http/collection-hint",
    test: "names only what the caller can list",
    replacements: [
      [
        "(found === undefined ? [] : listedNames(service, found))",
        "(found === undefined ? [] : [...service.collections.keys()])",
      ],
    ],
  },
  {
    name: "relation-hint-tells-all",
    what: "The hint about a relation that is not declared shows that a collection exists which the caller cannot list.",
    noticedBy: "test/http/embed-aliases",
    test: "a hint does not show a collection or a relation that the caller cannot see",
    replacements: [
      [
        "if (caller === undefined || !(await listedNames(service, caller)).includes(collection.name))",
        "if (caller === undefined)",
      ],
    ],
  },
  {
    name: "relation-hint-for-none",
    what: "A relation that is hidden from the caller has no hint, unlike one that does not exist.",
    noticedBy: "test/http/embed-aliases",
    test: "a hint does not show a collection or a relation that the caller cannot see",
    replacements: [
      [
        'if (route.kind !== "collection" || route.nested === undefined || existsFor(service, route, caller))',
        'if (route.kind !== "collection" || route.nested === undefined || route.id !== "")',
      ],
    ],
  },
  {
    name: "rewind-ignores-schema",
    what: "A rewind writes resources that do not fit today's schema.",
    noticedBy: "test/http/rewind-bounds",
    test: "is listed together with taken values and lost references, and nothing changes",
    replacements: [
      [
        "if (hooks === undefined && (collection.schema === undefined || next === undefined)) return;",
        "if (hooks === undefined) return;",
      ],
    ],
  },
  {
    name: "import-grows",
    what: "The resources of an import can become larger than their limit, which fills the disk.",
    noticedBy: "test/http/import-limits",
    test: "an import is also limited by what the resources become, and each resource has the limit of a body",
    replacements: [
      ["if (spool.length > maxGrowth * importBytes) throw tooManyResources(maxGrowth * importBytes);", ""],
    ],
  },
  {
    name: "own-id-shows-tag",
    what: "A create with a chosen id tells the ETag of the present resource to callers who cannot read it.",
    noticedBy: "test/http/own-ids",
    test: "the rule for creates decides, and an id that the caller may not read is a 412 without an ETag",
    replacements: [
      [
        'guard.may("read", current) ? guard.validators(current)',
        'guard.can("create") ? guard.validators(current)',
      ],
    ],
  },
  {
    name: "own-id-reveals-integers",
    what: "A PUT with If-None-Match shows which integer ids exist that the caller cannot see.",
    noticedBy: "test/http/own-ids",
    test: "integer ids say the same of an id that the caller may not read and of one that nobody has",
    replacements: [
      [
        "    requireChoosable(collection, operation.id);\n    if (current !== undefined) throw idTaken(undefined);",
        "    if (current !== undefined) throw idTaken(undefined);\n    requireChoosable(collection, operation.id);",
      ],
    ],
  },
  {
    name: "key-create-refused",
    what: "A PUT by a unique key is refused because another one has created the resource first.",
    noticedBy: "test/http/by-unique-key",
    test: "clients with one key make one resource, and no change is lost",
    replacements: [
      [
        "if (error.takenBy !== undefined && (await canBeHolder(write, error, error.takenBy))) return overtaken;",
        'if (error.takenBy === "" && (await canBeHolder(write, error, error.takenBy))) return overtaken;',
      ],
    ],
  },
  {
    name: "key-changed",
    what: "A write by a unique key changes a resource that has other values by now.",
    noticedBy: "test/http/by-unique-key",
    test: "a PATCH whose resource gets another value before it is changed changes nothing",
    replacements: [
      [
        "if (operation.key !== undefined && !hasKey(JSON.parse(current.text), operation.key)) return undefined;",
        'if (operation.key?.value === "" && !hasKey({}, operation.key)) return undefined;',
      ],
    ],
  },
  {
    name: "key-batch-refused",
    what: "A batch with a PUT by a unique key is refused because another request has created the resource first.",
    noticedBy: "test/http/by-unique-key",
    test: "batches with one key make one resource",
    replacements: [
      ["const isOther = batch.refusedFor !== takenBy;", "const isOther = takenBy === undefined;"],
    ],
  },
  {
    name: "key-batch-blind",
    what: "A write by a unique key in a batch does not see the resources that earlier operations have made.",
    noticedBy: "test/http/by-unique-key",
    test: "each operation sees the earlier ones",
    replacements: [["return known.value === value;", 'return known.value === value && value === "";']],
  },
  {
    name: "key-retry-mixed",
    what: "A patch by a unique key gets the stored response to a patch of another resource.",
    noticedBy: "test/http/by-unique-key",
    test: "the key of another resource is another one",
    replacements: [
      ['(method === "POST" ? "" : canonicalQuery(target))', '(method !== "" ? "" : canonicalQuery(target))'],
    ],
  },
  {
    name: "key-hidden",
    what: "A caller can name a resource by an attribute that is hidden from this caller.",
    noticedBy: "test/http/by-unique-key",
    test: "an attribute that the caller cannot see is no key",
    replacements: [
      [
        "const isSeen = ([name]: Path) => visibility?.hidden.has(name) !== true;",
        'const isSeen = ([name]: Path) => visibility === undefined || name !== "";',
      ],
    ],
  },
  {
    name: "key-import-twice",
    what: "An import by a unique key accepts two lines with the same key.",
    noticedBy: "test/http/imports-on",
    test: "refuses items without the key, repeated ones, and ids of other resources",
    replacements: [["this.#insertKey.run(key).changes === 1", "this.#insertKey.run(key).changes >= 0"]],
  },
  {
    name: "key-import-same",
    what: "An import by a unique key makes a new version of a resource that stays the same.",
    noticedBy: "test/http/imports-on",
    test: "makes, changes, and leaves what is the same",
    replacements: [
      [
        "if (isDeepStrictEqual(proposal.attributes, before)) return undefined;",
        "if (isDeepStrictEqual(proposal.attributes, before) && at === 0) return undefined;",
      ],
    ],
  },
  {
    name: "tasks-begin-together",
    what: "Tasks that begin at the same moment are more than can wait or work.",
    noticedBy: "test/store/task-loop",
    test: "of many tasks that begin at once, as many begin as can wait or work, and of one caller fewer",
    replacements: [["      put(partsName, lastBegunId, before?.version, { task: task.id }),\n", ""]],
  },
  {
    name: "taken-id",
    what: "Anyone takes the id of a deleted resource, so its owner cannot restore it.",
    noticedBy: "test/http/own-ids",
    test: "is not free while the history has its delete, and its owner restores it",
    replacements: [["if (lastVersion > 0) await requireFree(write);", ""]],
  },
  {
    name: "earlier-lives",
    what: "Who sees the present resource also sees what it was before a delete.",
    noticedBy: "test/http/own-ids",
    test: "is free for its owner, whose earlier lives others see only as far as they could",
    replacements: [
      [
        "return life === present || (seesLast(guard, life) && guard.sees(stored));",
        "return life !== undefined;",
      ],
    ],
  },
  {
    name: "task-of-a-revoked-key",
    what: "A task goes on after its API key was revoked.",
    noticedBy: "test/http/task-rights",
    test: "a task ends before its next slice when its API key is revoked, and not when the key expires",
    replacements: [
      ["if (key?.revokedAt !== undefined)\n      throw", "if (key?.revokedAt === 0)\n      throw"],
    ],
  },
  {
    name: "undo-of-hidden-values",
    what: "An undo brings back attributes that its caller cannot see.",
    noticedBy: "test/http/task-rights",
    test: "an undo keeps the present values of attributes that its caller cannot see",
    replacements: [["isRuled ? collection.visibility?.hidden : undefined", "undefined"]],
  },
];
