/** A real mail server on the loopback address, and queues that send to it. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import {
  type MailParts,
  MailQueue,
  type MailToSend,
  mailCollection,
} from "../../../src/capabilities/users/mail/mail-queue.ts";
import type { MailSettings, SmtpServer } from "../../../src/capabilities/users/mail/mail-settings.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { createUuidSource } from "../../../src/collection/uuids.ts";
import { Records } from "../../../src/records.ts";
import { openStore, type StoreAddress } from "../../../src/store/open.ts";
import { type TestClock, testClock } from "../webhooks/http/clock.ts";

/** One mail that the server has taken. */
export interface Taken {
  from: string;
  to: string[];
  /** Whether the connection was encrypted. */
  isSecure: boolean;
  raw: string;
}

/** An answer of the server that is no success. */
export function refusal(responseCode: number): Error {
  return Object.assign(new Error("said by the server"), { responseCode });
}

export interface MailServer {
  port: number;
  taken: Taken[];
  /** Users who have signed in, with their passwords. */
  signedIn: string[];
  /** The most connections at the same time. */
  mostAtOnce: number;
  /** Decides about a receiver. @default all are accepted */
  onReceiver: (address: string) => Error | undefined;
  /** Waits before a mail is taken. */
  beforeEnd: () => Promise<void>;
  /** Ends the server and all connections. */
  close(): Promise<void>;
}

export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
  let open = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ["STARTTLS"] : [],
    closeTimeout: 1,
    ...options,
    onConnect(_, callback) {
      box.mostAtOnce = Math.max(box.mostAtOnce, ++open);
      callback();
    },
    onClose: () => void open--,
    onAuth({ username, password }, _, callback) {
      box.signedIn.push(`${username}:${password}`);
      callback(null, { user: username ?? "" });
    },
    onRcptTo: ({ address }, _, callback) => callback(box.onReceiver(address)),
    async onData(stream, { envelope, secure }, callback) {
      const raw = await text(stream).catch(() => undefined);
      if (raw === undefined) return; // the client has gone in the middle of the mail
      await box.beforeEnd();
      box.taken.push({
        from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
        to: envelope.rcptTo.map(({ address }) => address),
        isSecure: secure,
        raw,
      });
      callback(null);
    },
  });
  server.on("error", () => {}); // a client that ends a connection
  const listener = server.listen(port, "127.0.0.1");
  await once(listener, "listening");
  const box: MailServer = {
    port: (listener.address() as AddressInfo).port,
    taken: [],
    signedIn: [],
    mostAtOnce: 0,
    onReceiver: () => undefined,
    beforeEnd: async () => {},
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return box;
}

/** The body of a mail without its transfer encoding, as one text. */
export function readable(raw: string): string {
  return raw
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** A header of a mail, on one line; `undefined` if it has none. */
export function headerOf(raw: string, name: string): string | undefined {
  const [head = ""] = raw.split("\r\n\r\n");
  const found = head
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `));
  if (found.length > 1) throw new Error(`The mail has ${found.length} headers ${name}.`);
  return found[0]?.slice(name.length + 2);
}

/** Settings for a mail server on this machine. */
export function settingsFor(
  port: number,
  more: Partial<MailSettings & { smtp: Partial<SmtpServer> }> = {},
): MailSettings {
  const smtp = { host: "127.0.0.1", port, encryption: "none", user: undefined } as const;
  return {
    from: { name: "Shop", address: "noreply@shop.example" },
    templates: {},
    perHour: 1_000,
    password: undefined,
    ...more,
    smtp: { ...smtp, ...more.smtp },
  };
}

const key = randomBytes(32);

/** Encrypts with a key of this process, and for one place. */
export const testVault = {
  seal(purpose: string, place: string, content: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(`${purpose} ${place}`));
    const sealed = Buffer.concat([cipher.update(content, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  },
  open(purpose: string, place: string, sealed: string): string {
    const bytes = Buffer.from(sealed, "base64url");
    const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12))
      .setAAD(Buffer.from(`${purpose} ${place}`))
      .setAuthTag(bytes.subarray(12, 28));
    return cipher.update(bytes.subarray(28), undefined, "utf8") + cipher.final("utf8");
  },
};

/** A store with a queue, as a service has them. */
export async function openQueue(
  address: StoreAddress,
  { clock = testClock(), ...more }: Partial<MailParts> & { clock?: TestClock } = {},
) {
  const store = await openStore(address, { history: "none" });
  const records = new Records(store, [openCollection("users"), mailCollection("users")]);
  await records.prepare();
  const warnings: string[] = [];
  const parts: MailParts = {
    records,
    vault: testVault,
    settings: undefined,
    title: "Shop",
    isLocal: true,
    clock,
    random: () => 0.5,
    newUuid: createUuidSource(),
    warn: (message) => warnings.push(message),
    onCommit: (listener) => store.onCommit(listener),
    ...more,
  };
  const queue = await closeIfFails(store, () => new MailQueue(parts));
  /** Queues a mail as a request does, and returns its record's id. */
  const add = async (mail: Partial<MailToSend> = {}): Promise<string> => {
    const now = clock.now();
    const change = await queue.changeFor(
      {
        template: "signIn",
        to: "ada@example.org",
        values: { code: "K7QF-29MX", link: "https://shop.example/_sign-in#x" },
        expiresAt: now + 600_000,
        ...mail,
      },
      now,
    );
    await records.commit([change], now);
    queue.wake();
    return change.key.id;
  };
  const close = async () => {
    await queue.stop();
    await store.close();
  };
  return { store, records, clock, queue, warnings, add, close };
}

async function closeIfFails<T>(store: { close(): Promise<void> }, make: () => T): Promise<T> {
  try {
    return make();
  } catch (error) {
    await store.close();
    throw error;
  }
}
