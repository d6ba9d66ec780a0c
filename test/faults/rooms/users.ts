/** Faults of `users`, of `secrets`, of what they encrypt elsewhere, and of what the configuration says about people who sign in. */
import type { Fault } from "../faults.ts";

export const usersFaults: readonly Fault[] = [
  {
    name: "mail-for-all",
    what: "Every user of the machine can read the mails of a local service, and so its codes.",
    noticedBy: "test/capabilities/users/local-mail",
    test: "each mail is a file that only its user reads, and the output names its path and never its code",
    replacements: [
      ["mode: 0o600,", "mode: 0o644,"],
      ["recursive: true, mode: 0o700", "recursive: true, mode: 0o755"],
    ],
  },
  {
    name: "sealed-anywhere",
    what: "A sealed text does not belong to its place, so a copy of it can be read at another one.",
    noticedBy: "test/secrets/vault",
    test: "a sealed text of another place, purpose or secret cannot be opened",
    replacements: [
      ["    cipher.setAAD(Buffer.from(place));", ""],
      ["      decipher.setAAD(Buffer.from(place));", ""],
    ],
  },
  {
    name: "any-secret",
    what: "A service starts with another secret than the one that the store was used with.",
    noticedBy: "test/secrets/open-vault",
    test: "sqlite: a store that was used with a secret opens with no other one",
    replacements: [["!names.includes(known.value.first)", "names.length === 0"]],
  },
  {
    name: "own-secret-each",
    what: "Of several services that start at once on a new store, each keeps the secret that it made itself.",
    noticedBy: "test/secrets/open-vault",
    test: "sqlite: of many that start at once, all get the secret that one of them made",
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
    noticedBy: "test/capabilities/users/user-options",
    test: "strangers who sign up are not colleagues: a collection without rules stops the start",
    replacements: [["if (rules.get(name) === defaultRules)", "if (rules.get(name) === undefined)"]],
  },
  {
    name: "local-behind-proxy",
    what: "A service behind a proxy counts as local, so it needs neither an address nor a secret.",
    noticedBy: "test/capabilities/users/user-options",
    test: "a loopback host alone makes a service local, if nothing says that others reach it",
    replacements: [['get("tls"), get("trustProxy")[0],', 'get("tls"),']],
  },
  {
    name: "forgotten-proxy",
    what: "A local service where people sign in answers for every Host, so a proxy that was forgotten does not show.",
    noticedBy: "test/capabilities/users/http/own-host",
    test: "a local service where people sign in answers for loopback names only",
    replacements: [
      ["http.cookieOrigins !== undefined && isLocal ?", "http.cookieOrigins !== undefined && !isLocal ?"],
    ],
  },
  {
    name: "last-administrator-cascade",
    what: "The profile of the last administrator goes with a resource that it refers to.",
    noticedBy: "test/capabilities/users/http/deletion",
    test: "the profile of the last administrator cannot be deleted, whichever way",
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
    noticedBy: "test/capabilities/users/http/audit-strangers",
    test: "wrong passwords for one address are counted by the minute, and show no text, and no address but that of an account",
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
    noticedBy: "test/capabilities/users/audit",
    test: "what is refused at the same time is one entry with its number, also from two instances",
    replacements: [["(entry.count ?? 0) + group.count", "(entry.count ?? 0) + 1"]],
  },
  {
    name: "one-factor-reset",
    what: "A reset of the password begins a session without the second factor.",
    noticedBy: "test/capabilities/users/http/second-factor",
    test: "a code by mail and a reset are the first factor only",
    replacements: [
      [
        'return this.beginOrAskFactor(account, {\n        visitor,\n        kind: "password",',
        'return this.#beginProven(account, {\n        visitor,\n        kind: "password",',
      ],
    ],
  },
  {
    name: "code-twice",
    what: "The code of an authenticator app works again in the same 30 seconds.",
    noticedBy: "test/capabilities/users/http/second-factor",
    test: "after an authenticator app is set up, a sign-in asks for its code, and each code works once",
    replacements: [["step <= account.totp.step", "step < account.totp.step"]],
  },
  {
    name: "ticket-of-before",
    what: "The ticket of a sign-in works after the password or the factors have changed.",
    noticedBy: "test/capabilities/users/http/second-factor",
    test: "a change of letters in the address ends a sign-in that waits for the second factor",
    replacements: [["|| stampOf(found.value) !== asked.stamp", ""]],
  },
  {
    name: "ticket-twice",
    what: "A ticket for a passkey or a second factor can be used again.",
    noticedBy: "test/capabilities/users/http/passkeys",
    test: "somebody adds a passkey and signs in with it alone, and each challenge works once",
    replacements: [["const id = ticketId(nonce);", "const id = ticketId(ticket + Math.random());"]],
  },
  {
    name: "no-second-factor-needed",
    what: "A session whose user must first set up a second factor can do everything.",
    noticedBy: "test/capabilities/users/http/second-factor",
    test: "who must have a second factor can only set one up",
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
    noticedBy: "test/capabilities/users/http/passkeys",
    test: "what is signed must be the challenge, the service, its pages, and a verified user",
    replacements: [["requireUserVerification: true,", "requireUserVerification: false,"]],
  },
  {
    name: "readable-webhook-secret",
    what: "The store keeps the secret of a new or changed webhook readable, although the service has a secret of its own.",
    noticedBy: "test/capabilities/webhooks/http/kept-secrets",
    test: "a service does not start with the secret of a webhook that none of its secrets opens, and says which one",
    replacements: [
      ["secret: parts.secrets.keep(id, secret ?? after.secret),", "secret: secret ?? after.secret,"],
    ],
  },
  {
    name: "old-key-of-webhooks",
    what: "A start leaves the secrets of webhooks encrypted with a secret of the service that is about to be removed.",
    noticedBy: "test/capabilities/webhooks/http/kept-secrets",
    test: "a service does not start with the secret of a webhook that none of its secrets opens, and says which one",
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
    test: "on SQLite, a service whose secret is lost starts with a new one after a command that says what is lost",
    replacements: [
      [
        "oldSecret === undefined || lost.includes(oldSecret) ? undefined",
        "oldSecret === undefined ? undefined",
      ],
    ],
  },
  {
    name: "respelled-seal",
    what: "A sealed text is also opened in another spelling, so a used ticket works again.",
    noticedBy: "test/secrets/vault",
    test: "a sealed text has one spelling",
    replacements: [
      [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a text of the source
        'if (`${name}.${bytes.toString("base64url")}` !== sealed) throw new Error("another spelling");',
        'if (bytes.length === 0) throw new Error("another spelling");',
      ],
    ],
  },
  {
    name: "import-over-an-account",
    what: "An import by a key sets the address or the roles in the profile of an account.",
    noticedBy: "test/capabilities/users/http/mirror",
    test: "no import changes them in the profile of an account, and an import sets them in another profile",
    replacements: [
      [
        ".filter((name) => Object.hasOwn(value, name) && !isDeepStrictEqual(value[name], before[name]))",
        ".filter(() => false)",
      ],
    ],
  },
  {
    name: "mails-of-strangers",
    what: "Strangers who ask for many mails keep the owner of an address from getting a code.",
    noticedBy: "test/capabilities/users/tickets",
    test: "the owner of an address gets a mail when strangers have used up those of the service",
    replacements: [["isOwner === true ? [toAddress] : [toAddress, ofService]", "[toAddress, ofService]"]],
  },
];
