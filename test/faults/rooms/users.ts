/** Faults of `users`, of `secrets`, of what they encrypt elsewhere, and of what the configuration says about people who sign in. */
import type { Fault } from "../faults.ts";

export const usersFaults: readonly Fault[] = [
  {
    name: "sealed-anywhere",
    what: "A sealed text does not belong to its place, so a copy of it can be read at another one.",
    noticedBy: "test/users/vault",
    replacements: [
      ["    cipher.setAAD(Buffer.from(place));", ""],
      ["      decipher.setAAD(Buffer.from(place));", ""],
    ],
  },
  {
    name: "any-secret",
    what: "A service starts with another secret than the one that the store was used with.",
    noticedBy: "test/users/open-vault",
    replacements: [["!names.includes(known.value.first)", "names.length === 0"]],
  },
  {
    name: "own-secret-each",
    what: "Of several services that start at once on a new store, each keeps the secret that it made itself.",
    noticedBy: "test/users/open-vault",
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
    noticedBy: "test/config/user-options",
    replacements: [
      ["if (declared.rules.get(name) === defaultRules)", "if (declared.rules.get(name) === undefined)"],
    ],
  },
  {
    name: "local-behind-proxy",
    what: "A service behind a proxy counts as local, so it needs neither an address nor a secret.",
    noticedBy: "test/config/user-options",
    replacements: [['get("tls"), get("trustProxy")[0],', 'get("tls"),']],
  },
  {
    name: "forgotten-proxy",
    what: "A local service where people sign in answers for every Host, so a proxy that was forgotten does not show.",
    noticedBy: "test/http/users/own-host",
    replacements: [["auth.users !== undefined && isLocal ?", "auth.users !== undefined && !isLocal ?"]],
  },
  {
    name: "last-administrator-cascade",
    what: "The profile of the last administrator goes with a resource that it refers to.",
    noticedBy: "test/http/users/deletion",
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
    noticedBy: "test/http/users/audit",
    replacements: [
      [
        'result: "failed", method: methodOf(given), ...found },',
        'result: "failed", method: methodOf(given), ...found, email: address },',
      ],
    ],
  },
  {
    name: "audit-counts-one",
    what: "Wrong proofs at the same time count as one in the audit.",
    noticedBy: "test/users/audit",
    replacements: [["(entry.count ?? 0) + group.count", "(entry.count ?? 0) + 1"]],
  },
  {
    name: "one-factor-reset",
    what: "A reset of the password begins a session without the second factor.",
    noticedBy: "test/http/users/second-factor",
    replacements: [
      [
        'return this.begin(account, { visitor, kind: "password",',
        'return this.#begin(account, { visitor, kind: "password",',
      ],
    ],
  },
  {
    name: "code-twice",
    what: "The code of an authenticator app works again in the same 30 seconds.",
    noticedBy: "test/http/users/second-factor",
    replacements: [["step <= account.totp.step", "step < account.totp.step"]],
  },
  {
    name: "ticket-of-before",
    what: "The ticket of a sign-in works after the password or the factors have changed.",
    noticedBy: "test/http/users/second-factor",
    replacements: [["|| stampOf(found.value) !== asked.stamp", ""]],
  },
  {
    name: "ticket-twice",
    what: "A ticket for a passkey or a second factor can be used again.",
    noticedBy: "test/http/users/passkeys",
    replacements: [["const id = ticketId(ticket);", "const id = ticketId(ticket + Math.random());"]],
  },
  {
    name: "no-second-factor-needed",
    what: "A session whose user must first set up a second factor can do everything.",
    noticedBy: "test/http/users/second-factor",
    replacements: [
      [
        "if (principal?.session?.mustAddFactor !== true || isForSetUp(route, request)) return counted;",
        "return counted;",
      ],
    ],
  },
  {
    name: "device-of-anyone",
    what: "A passkey counts although the device has not verified its user.",
    noticedBy: "test/http/users/passkeys",
    replacements: [["requireUserVerification: true,", "requireUserVerification: false,"]],
  },
  {
    name: "readable-webhook-secret",
    what: "The store keeps the secret of a new or changed webhook readable, although the service has a secret of its own.",
    noticedBy: "test/http/webhooks/kept-secrets",
    replacements: [
      ["secret: parts.secrets.keep(id, secret ?? after.secret),", "secret: secret ?? after.secret,"],
    ],
  },
  {
    name: "old-key-of-webhooks",
    what: "A start leaves the secrets of webhooks encrypted with a secret of the service that is about to be removed.",
    noticedBy: "test/http/webhooks/kept-secrets",
    replacements: [
      [
        "if (vault === undefined || vault.isCurrent(secret)) return secret;",
        'if (vault === undefined || secret.includes(".")) return secret;',
      ],
    ],
  },
  {
    name: "lost-old-secret",
    what: "A webhook keeps an old secret that is lost, so nothing can be signed.",
    noticedBy: "test/commands/secret",
    replacements: [
      [
        "oldSecret === undefined || lost.includes(oldSecret) ? undefined",
        "oldSecret === undefined ? undefined",
      ],
    ],
  },
];
