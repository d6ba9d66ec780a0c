/**
 * A proxy between the service and its database that reports rows as some clusters do: for an insert with `on conflict do
 * nothing`, the command tag has the number of rows offered, not of rows inserted. The returned rows stay as they are.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy in front of one port. */
export interface OfferingProxy {
  /** How many tags it has changed to another number. */
  readonly changed: number;
  /** The texts of all statements that clients have sent. */
  readonly sent: ReadonlySet<string>;
  /** The same address through the proxy. */
  urlOf(url: string): string;
  /** Holds the next `n` connections on which the client sends this text, until all of them have sent it. */
  meetAt(text: string, n: number): void;
  close(): Promise<void>;
}

/** Starts a proxy to a port of this machine. */
export async function startOfferingProxy(target: number): Promise<OfferingProxy> {
  const sockets = new Set<Socket>();
  const meeting = new Meeting();
  const texts = new Set<string>();
  let changed = 0;
  const server = createServer((client) => {
    const database = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {}); // its end is what matters
      socket.on("close", () => other.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    const statements = new Statements((sql) => texts.add(sql));
    let sent = Promise.resolve();
    client.on("data", (bytes: Buffer) => {
      statements.note(bytes);
      sent = sent.then(() => meeting.wait(bytes)).then(() => void database.write(bytes));
    });
    const frames = new Frames();
    database.on("data", (bytes: Buffer) => {
      const responses = frames.take(bytes).map((frame) => {
        if (frame.type === "Z") statements.end();
        const offered = frame.type === "C" ? statements.offered : undefined;
        const tag = `INSERT 0 ${offered}\0`;
        if (offered === undefined || frame.body.equals(Buffer.from(tag))) return frame.bytes;
        changed++;
        return messageOf("C", Buffer.from(tag));
      });
      client.write(Buffer.concat(responses));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    get changed() {
      return changed;
    },
    sent: texts,
    urlOf(url) {
      const through = new URL(url);
      through.port = String(port);
      return through.href;
    },
    meetAt: (text, n) => meeting.call(text, n),
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Connections that wait for each other. */
class Meeting {
  #text: string | undefined;
  #missing = 0;
  #all = Promise.withResolvers<void>();

  call(text: string, n: number): void {
    this.#text = text;
    this.#missing = n;
    this.#all = Promise.withResolvers();
  }

  async wait(bytes: Buffer): Promise<void> {
    if (this.#missing === 0 || !bytes.includes(this.#text ?? "")) return;
    this.#missing--;
    if (this.#missing === 0) this.#all.resolve();
    await this.#all.promise;
  }
}

/** A message of the protocol. https://www.postgresql.org/docs/current/protocol-message-formats.html */
interface Frame {
  type: string;
  body: Buffer;
  bytes: Buffer;
}

function messageOf(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Cuts bytes into messages. */
class Frames {
  #rest: Buffer = Buffer.alloc(0);
  #hasGreeting: boolean;

  /** `hasGreeting`: the first message has no type. */
  constructor(hasGreeting = false) {
    this.#hasGreeting = hasGreeting;
  }

  take(bytes: Buffer): Frame[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    for (;;) {
      const start = this.#hasGreeting ? 0 : 1;
      if (this.#rest.length < start + 4) return frames;
      const end = start + this.#rest.readInt32BE(start);
      if (this.#rest.length < end) return frames;
      const whole = this.#rest.subarray(0, end);
      frames.push({
        type: whole.toString("latin1", 0, start),
        body: whole.subarray(start + 4),
        bytes: whole,
      });
      this.#rest = this.#rest.subarray(end);
      this.#hasGreeting = false;
    }
  }
}

/** The statements on one connection that the server has not completed yet. The driver sends one before each Sync. */
class Statements {
  readonly #frames = new Frames(true);
  readonly #sqlByName = new Map<string, string>();
  /** The rows that each statement offers; the first is the greeting. */
  readonly #offered: (number | undefined)[] = [undefined];
  readonly #onSql: (sql: string) => void;
  #bound: number | undefined;

  /** `onSql` is called with the text of each statement. */
  constructor(onSql: (sql: string) => void) {
    this.#onSql = onSql;
  }

  /** The rows that the first of them offers. `undefined` if its tag stays as it is. */
  get offered(): number | undefined {
    return this.#offered[0];
  }

  end(): void {
    this.#offered.shift();
  }

  note(bytes: Buffer): void {
    for (const { type, body } of this.#frames.take(bytes)) {
      if (type === "Q") {
        const sql = textAt(body, 0);
        this.#onSql(sql);
        this.#offered.push(offeredBy(sql));
      }
      if (type === "P") {
        const name = textAt(body, 0);
        const sql = textAt(body, Buffer.byteLength(name) + 1);
        this.#onSql(sql);
        this.#sqlByName.set(name, sql);
      }
      if (type === "B") this.#bind(body);
      if (type !== "S") continue;
      this.#offered.push(this.#bound);
      this.#bound = undefined;
    }
  }

  #bind(body: Buffer): void {
    const portal = textAt(body, 0);
    const name = textAt(body, Buffer.byteLength(portal) + 1);
    const formats = Buffer.byteLength(portal) + 1 + Buffer.byteLength(name) + 1;
    const values = formats + 2 + 2 * body.readInt16BE(formats) + 2;
    this.#bound = offeredBy(this.#sqlByName.get(name) ?? "", body.subarray(values));
  }
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString("utf8", start, bytes.indexOf(0, start));
}

/** Where the number of elements is in a bound binary array: after its length, dimensions, flags and type. */
const elementsAt = 16;

/** The rows that an insert offers: those after `values`, or the elements of the first array. */
function offeredBy(sql: string, values?: Buffer): number | undefined {
  if (!/^\s*insert .* on conflict do nothing/s.test(sql)) return undefined;
  const rows = /\bvalues\b(.*)\bon conflict/s.exec(sql)?.[1];
  return rows === undefined ? values?.readInt32BE(elementsAt) : rows.match(/\((?=[$'])/g)?.length;
}
