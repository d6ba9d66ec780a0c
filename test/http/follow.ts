/** Follows streams of events as the HTML standard says (section 9.2.6), and reads pages of events. */
import assert from "node:assert/strict";
import { type IncomingHttpHeaders, request } from "node:http";
import { until } from "../until.ts";
import type { Answer, Service } from "./service.ts";

/** An event as CloudEvents 1.0 has it in JSON. */
export interface CloudEvent {
  specversion: string;
  id: string;
  source: string;
  type: string;
  subject?: string;
  time: string;
  datacontenttype: string;
  etag?: string;
  version?: string;
  group?: string;
  data: Record<string, unknown>;
}

/** One frame: the lines up to an empty one, by the names of their fields. */
export type Frame = Readonly<Record<string, string>>;

/** A stream that is open. */
export interface OpenStream {
  status: number;
  headers: IncomingHttpHeaders;
  /** Everything that has come. */
  text: () => string;
  frames: () => Frame[];
  events: () => CloudEvent[];
  /** The position that a client would send when it connects again. */
  lastId: () => string | undefined;
  hasEnded: () => boolean;
  /** Waits until this many events have arrived. */
  take(count: number): Promise<CloudEvent[]>;
  untilEnded(): Promise<void>;
  close(): void;
}

/** Opens a stream. The test must close it. */
export function follow(
  { port }: Pick<Service, "port">,
  path: string,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: "127.0.0.1",
      port,
      path,
      headers: { accept: "text/event-stream", ...headers },
      agent: false,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      let text = "";
      let isEnded = false;
      incoming.setEncoding("utf8");
      incoming.on("data", (part: string) => {
        text += part;
      });
      incoming.on("error", () => {});
      incoming.on("close", () => {
        isEnded = true;
      });
      const frames = () => framesOf(text);
      const events = () => frames().flatMap(({ data }) => (data === undefined ? [] : JSON.parse(data)));
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        text: () => text,
        frames,
        events,
        lastId: () => frames().findLast(({ id }) => id !== undefined)?.id,
        hasEnded: () => isEnded,
        async take(count) {
          await until(`${count} events have come`, () => events().length >= count);
          return events();
        },
        untilEnded: () => until("the stream has ended", () => isEnded),
        close: () => outgoing.destroy(),
      });
    });
    outgoing.end();
  });
}

function framesOf(text: string): Frame[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((frame) => Object.fromEntries(frame.split("\n").map(lineOf)));
}

function lineOf(line: string): [string, string] {
  const at = line.indexOf(":");
  return at === -1 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
}

/** The events of a page, checked for what every page has. */
export function eventsOf(answer: Answer): CloudEvent[] {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.match(answer.headers.link ?? "", /^<\/[^>]+[?&]since=[\w-]+>; rel="next"$/);
  return answer.json as CloudEvent[];
}

/** The target of the link of a relation; throws if there is none. */
export function linkOf({ headers }: Pick<Answer, "headers">, relation: string): string {
  for (const link of (headers.link ?? "").split(/,\s*(?=<)/)) {
    const [, target, name] = /^<([^>]*)>; rel="([a-z]+)"$/.exec(link) ?? [];
    if (name === relation && target !== undefined) return target;
  }
  throw new Error(`no link ${relation}: ${headers.link}`);
}

/** The position in a link. */
export function sinceOf(link: string): string {
  return new URLSearchParams(link.split("?")[1]).get("since") ?? "";
}

/** An event in short: its type without the collection, its subject, and one attribute of its data. */
export function inShort({ type, subject, data }: CloudEvent, attribute = "n"): unknown[] {
  return [type.split(".").at(-1), subject, data[attribute]];
}
