/** Faults of `access`. */
import type { Fault } from "../faults.ts";

export const accessFaults: readonly Fault[] = [
  {
    name: "empty-claim",
    what: "A rule that compares with a claim of the token applies the empty list, so nin is true of every resource.",
    noticedBy: "test/access/where",
    test: 'with the claims {"tenant":[]}',
    replacements: [["value.length > 0 && value.every(isKnown)", "value.every(isKnown)"]],
  },
  {
    name: "list-without-read",
    what: "A list shows resources that the caller cannot read, because only the rule for lists is applied.",
    noticedBy: "test/access/rules",
    test: "a list is of what its caller may read",
    replacements: [
      [
        'action === "list" && rules.list !== rules.read ? both(allowed, rules.read(principal)) : allowed;',
        "allowed;",
      ],
    ],
  },
  {
    name: "token-after-expiry",
    what: "A token that was used before is accepted after its expiry.",
    noticedBy: "test/capabilities/tokens/tokens",
    test: "is not checked again, and holds for no longer than it says",
    replacements: [
      [
        "known !== undefined && now < known.validUntil ? known.principal : undefined",
        "known !== undefined ? known.principal : undefined",
      ],
    ],
  },
  {
    name: "restores-without-delete",
    what: "A restore of many needs no right to delete each resource.",
    noticedBy: "test/http/access/deleted",
    test: "are restored only by callers who have the right to delete, also if there is nothing to restore",
    replacements: [['  guard.require("delete", state);\n', ""]],
  },
  {
    name: "rule-before-commit",
    what: "A rule about related resources is judged before the commit only.",
    noticedBy: "test/postgres/related-rules",
    test: "no two writes are allowed that exclude each other, by two instances",
    replacements: [["  if (unmet !== undefined) {", "  if (false) {"]],
  },
  {
    name: "rule-of-old-target",
    what: "An update is judged with the related resource that it has afterwards only.",
    noticedBy: "test/http/related-rules",
    test: "an update needs the old and the new related resource as the rule says",
    replacements: [
      [
        '  guard.require(kind === "delete" ? "delete" : "update", current);',
        '  if (kind === "delete") guard.require("delete", current);',
      ],
      ['    ...[guard.visible, guard.allowed("update")].flatMap((each) => required(each, current)),\n', ""],
    ],
  },
  {
    name: "rule-without-target",
    what: "A negated condition about a related resource is true without that resource.",
    noticedBy: "test/http/related-rules",
    test: "not is about what the related resource contains, so nothing matches without one",
    replacements: [
      [
        'return { kind: "related", relation: filter.relation, filter: toRule(filter.filter, isNegated) };',
        'return ((related: StoreFilter): StoreFilter => (isNegated ? { kind: "not", filter: related } : related))({ kind: "related", relation: filter.relation, filter: toRule(filter.filter) });',
      ],
    ],
  },
  {
    name: "rule-with-secret",
    what: "A rule can compare with a write-only attribute of a related resource.",
    noticedBy: "test/config/related-rules",
    test: "a rule is refused for a write-only attribute",
    replacements: [["    if (rule?.writeOnly === true) refuse(", "    if (false) refuse("]],
  },
  {
    name: "rule-in-batch",
    what: "The commit of a batch judges a rule with the related resource as it is before the batch, although an earlier operation has changed it.",
    noticedBy: "test/http/related-rules",
    test: "an operation of a batch sees what the earlier ones made of the related resource, and no later one",
    replacements: [["...(change.requires ?? []).map(asMade)", "...(change.requires ?? [])"]],
  },
  {
    name: "rule-of-expired",
    what: "An embed shows what a rule allows through an expired resource.",
    noticedBy: "test/http/related-rules",
    test: "an embed shows nothing that a rule allows only through an expired resource",
    replacements: [
      [
        '    const query = await this.#withLiveRelated(asked, "sort");\n    const live = await this.filterFor',
        "    const query = asked;\n    const live = await this.filterFor",
      ],
    ],
  },
  {
    name: "rule-of-itself",
    what: "A resource that refers to itself is judged with its state before the write.",
    noticedBy: "test/http/related-rules",
    test: "a resource that refers to itself is judged with its own next state",
    replacements: [["(isSame(target, key) ? state : store.read(target))", "store.read(target)"]],
  },
  {
    name: "undo-to-hidden",
    what: "The undo of a task writes references to resources that the caller cannot read.",
    noticedBy: "test/http/related-rules",
    test: "an undo writes no reference to a resource that the caller cannot read",
    replacements: [
      [
        "next: allowed.text, replaced: before.text.length, requires }",
        "next, replaced: before.text.length, requires }",
      ],
    ],
  },
  {
    name: "key-of-user",
    what: "An API key whose subject is the id of an account acts as that user.",
    noticedBy: "test/capabilities/users/http/subjects",
    test: "a key that was made for an account at the command line is refused, also once the account is deleted",
    replacements: [
      [
        "return found instanceof Promise ? found.then(refuseKey) : refuseKey(found);",
        "return found instanceof Promise ? found : refuseKey(found);",
      ],
    ],
  },
];
