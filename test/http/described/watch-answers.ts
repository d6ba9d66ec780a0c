/**
 * Watches all responses of the services in this process, and checks them against the OpenAPI document of each service. It does
 * not watch embedded services and services in other processes.
 *
 * It only records responses while tests run, and checks them at the end of the file. So the check delays no measurement, and a
 * failure does not keep hooks from stopping their services.
 */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Config } from "../../../src/config.ts";
import { openApiDocument } from "../../../src/http/describe/document.ts";
import { ServerResponse as NodeResponse } from "../../../src/http/protocol/node-http.ts";
import { atEndOfFile, atEndOfProcess } from "../../runner/ends.ts";
import { decoded } from "../decoded.ts";
import { endpointTable } from "../endpoint-table.ts";
import { type AnswerJudge, createAnswerJudge, type SeenAnswer } from "./answer-judge.ts";
import { leaveNames, noteDocumented, noteSeen } from "./seen-answers.ts";

/** The recorded responses of a service. */
interface Kept {
  config: Config;
  answers: SeenAnswer[];
}

/** The limits of the recording for one test file. Further responses are only counted, and larger bodies are left out. */
const bounds = { answers: 50_000, bytes: 64_000_000, bodyBytes: 262_144 };

const all: Kept[] = [];
const watched = new Map<number, Kept>();
const sum = { answers: 0, bytes: 0 };
let isListening = false;

/**
 * Watches the service on a port. The test file fails if the document does not describe a response. Returns a function that ends this: when
 * the service has stopped, something else can use the port.
 */
export function watchAnswers(port: number, config: Config): () => void {
  if (!isListening) listen();
  isListening = true;
  const kept: Kept = { config, answers: [] };
  all.push(kept);
  watched.set(port, kept);
  return () => {
    if (watched.get(port) === kept) watched.delete(port);
  };
}

atEndOfFile(async () => {
  const services = all.splice(0);
  watched.clear();
  const { answers } = sum;
  Object.assign(sum, { answers: 0, bytes: 0 });
  if (answers > bounds.answers)
    console.error(`${answers - bounds.answers} answers of ${answers} were not judged`);
  const faults = await judgeAll(services);
  judges.clear();
  if (faults.length > 0)
    throw new Error(`Answers that the OpenAPI document does not foresee:\n${faults.slice(0, 10).join("\n")}`);
});

atEndOfProcess(leaveNames);

async function judgeAll(services: readonly Kept[]): Promise<string[]> {
  const documents = await Promise.all(
    services.map(({ config }) =>
      openApiDocument(
        { ...config, collections: () => config.collections, settings: config.http, endpoints: endpointTable },
        "3.2",
      ),
    ),
  );
  const faults = services.flatMap(({ config, answers }, n) => {
    const judge = judgeOf(documents[n] ?? {}, config.http.prefix);
    noteDocumented(judge.documented);
    return answers.flatMap((answer) => faultsOf(judge, answer));
  });
  return [...new Set(faults)];
}

function faultsOf({ judge }: AnswerJudge, answer: SeenAnswer): string[] {
  const { name, fault } = judge(answer);
  if (name !== undefined) noteSeen(name);
  if (fault === undefined) return [];
  const { method, target, status, body = "" } = answer;
  return [`${method} ${target.slice(0, 200)} ${status}: ${fault} ${body.slice(0, 300)}`];
}

const judges = new Map<string, AnswerJudge>();

/** Services of one configuration have one judge. */
function judgeOf(document: object, prefix: string): AnswerJudge {
  const text = JSON.stringify(document);
  const judge = judges.get(text) ?? createAnswerJudge(document, prefix);
  judges.set(text, judge);
  return judge;
}

/** Every response goes through one of two classes of Node. */
function listen(): void {
  const { writeHead, end } = NodeResponse.prototype;
  const heads = new WeakMap<ServerResponse, unknown>();
  Object.assign(NodeResponse.prototype, {
    writeHead(this: ServerResponse, ...given: unknown[]) {
      const headers = given.at(-1) as Record<string, string> | undefined;
      heads.set(this, headers);
      const result = Reflect.apply(writeHead, this, given);
      // A stream can have no end, so only its status and headers are checked.
      if (isStream(headers)) {
        const { method = "", url: target = "", socket } = this.req;
        keep(socket?.localPort, {
          method,
          target,
          status: this.statusCode,
          headers: { ...headers },
          body: undefined,
        });
      }
      return result;
    },
    end(this: ServerResponse, ...given: unknown[]) {
      const { method = "", url: target = "", socket } = this.req;
      const headers = { ...(heads.get(this) as Record<string, string>) };
      if (isStream(headers)) return Reflect.apply(end, this, given);
      const content = given[0];
      const body = Buffer.isBuffer(content)
        ? decoded(content, headers["content-encoding"])
        : typeof content === "string"
          ? content
          : "";
      keep(socket?.localPort, { method, target, status: this.statusCode, headers, body });
      return Reflect.apply(end, this, given);
    },
  });
  const { end: endSocket } = Socket.prototype;
  Object.assign(Socket.prototype, {
    end(this: Socket, ...given: unknown[]) {
      if (typeof given[0] === "string" && given[0].startsWith("HTTP/1.1 "))
        keep(this.localPort, parsed(given[0]));
      return Reflect.apply(endSocket, this, given);
    },
  });
}

function isStream(headers: Readonly<Record<string, string>> | undefined): boolean {
  return headers?.["content-type"]?.startsWith("text/event-stream") === true;
}

function keep(port: number | undefined, answer: SeenAnswer): void {
  const kept = watched.get(port ?? 0);
  if (kept === undefined) return;
  sum.answers++;
  if (sum.answers > bounds.answers) return;
  const { length } = answer.body ?? "";
  const isKept = length <= bounds.bodyBytes && sum.bytes + length <= bounds.bytes;
  if (isKept) sum.bytes += length;
  kept.answers.push(isKept ? answer : { ...answer, body: undefined });
}

/** The response to bytes that are not a valid request. */
function parsed(text: string): SeenAnswer {
  const [head = "", body] = text.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const fields = lines.map((line) => {
    const [name = "", value = ""] = line.split(/: (.*)/s);
    return [name.toLowerCase(), value] as const;
  });
  const headers = Object.fromEntries(fields);
  return { method: "", target: "", status: Number(first.split(" ")[1]), headers, body };
}
