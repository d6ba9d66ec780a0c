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
    noticedBy: "test/access/tokens",
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
    replacements: [['  operation.guard.require("delete", last.text);\n', ""]],
  },
  {
    name: "key-of-user",
    what: "An API key whose subject is the id of an account acts as that user.",
    noticedBy: "test/http/users/subjects",
    test: "a key that was made for an account at the command line is refused, also once the account is deleted",
    replacements: [
      [
        "return found instanceof Promise ? found.then(refuseKey) : refuseKey(found);",
        "return found instanceof Promise ? found : refuseKey(found);",
      ],
    ],
  },
];
