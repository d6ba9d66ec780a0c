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
];
