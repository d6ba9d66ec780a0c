/** Faults of `users`, of `secrets`, and of what the configuration says about people who sign in. */
import type { Fault } from "../faults.ts";

export const usersFaults: readonly Fault[] = [
  {
    name: "sealed-anywhere",
    what: "A sealed text does not belong to its place, so a copy of it can be read at another one.",
    noticedBy: "test/users/vault.test.ts",
    replacements: [
      ["    cipher.setAAD(Buffer.from(place));", ""],
      ["      decipher.setAAD(Buffer.from(place));", ""],
    ],
  },
  {
    name: "any-secret",
    what: "A service starts with another secret than the one that the store was used with.",
    noticedBy: "test/users/open-vault.test.ts",
    replacements: [["!names.includes(known.value.first)", "names.length === 0"]],
  },
  {
    name: "own-secret-each",
    what: "Of several services that start at once on a new store, each keeps the secret that it made itself.",
    noticedBy: "test/users/open-vault.test.ts",
    replacements: [
      [
        "if (!isOvertaken(error)) throw error; // otherwise another one that starts was faster",
        "if (!isOvertaken(error)) throw error;\n      return new Vault(secrets);",
      ],
    ],
  },
  {
    name: "strangers-without-rules",
    what: "A service where anyone can sign up starts with a collection without rules.",
    noticedBy: "test/config/user-options.test.ts",
    replacements: [
      ["if (declared.rules.get(name) === defaultRules)", "if (declared.rules.get(name) === undefined)"],
    ],
  },
  {
    name: "local-behind-proxy",
    what: "A service behind a proxy counts as local, so it needs neither an address nor a secret.",
    noticedBy: "test/config/user-options.test.ts",
    replacements: [['get("tls"), get("trustProxy")[0],', 'get("tls"),']],
  },
  {
    name: "forgotten-proxy",
    what: "A local service where people sign in answers for every Host, so a proxy that was forgotten does not show.",
    noticedBy: "test/http/users/own-host.test.ts",
    replacements: [["auth.users !== undefined && isLocal ?", "auth.users !== undefined && !isLocal ?"]],
  },
  {
    name: "last-administrator-cascade",
    what: "The profile of the last administrator goes with a resource that it refers to.",
    noticedBy: "test/http/users/deletion.test.ts",
    replacements: [
      [
        "const isGone = ({ id }: Account) => this.#isDeleted({ collection, id }, { keys, cascadesOf });",
        "const isGone = ({ id }: Account) => this.#isDeleted({ collection, id }, { keys, cascadesOf: () => [] });",
      ],
    ],
  },
  {
    name: "audit-of-strangers",
    what: "The audit shows the addresses that strangers have typed.",
    noticedBy: "test/http/users/audit.test.ts",
    replacements: [
      [
        'result: "failed", method: methodOf(given), subject },',
        'result: "failed", method: methodOf(given), subject, email: address },',
      ],
    ],
  },
  {
    name: "audit-counts-one",
    what: "Wrong proofs at the same time count as one in the audit.",
    noticedBy: "test/users/audit.test.ts",
    replacements: [["(entry.count ?? 0) + group.count", "(entry.count ?? 0) + 1"]],
  },
];
