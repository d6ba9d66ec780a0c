/**
 * Carries out the requests of one connection one after the other. A connection holds at most one unread response: the next
 * request starts when the previous response is sent. Closes the connection of a client that is still sending.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Count } from "../admission/counts.ts";
import type { Admission } from "../admission/ticket.ts";

/** The work that waits for the request in progress; `undefined` if no request is in progress. */
const waitingRequests = Symbol("waiting requests");

/** The most requests of one connection that can wait. */
const maxWaitingRequests = 1_000;

/** The most requests of all connections that can wait, in all threads. */
const maxWaitingInAll = 10_000;

/** The count of the requests that wait on all connections. Every connection has it. */
export const waitingInAll = Symbol("waiting in all");

/** Whether a connection counts as one of all. */
export const isCounted = Symbol("is counted");

/** Handles one request and sends its response. Returns whether the connection stays open. */
export type Work = () => boolean | Promise<boolean>;

/** The latest request of a connection. Its content can still be incomplete. */
export const latestRequest = Symbol("latest request");

/** A socket with the state of its requests. */
export type Connection = Socket & {
  [waitingRequests]?: Work[] | undefined;
  [latestRequest]?: IncomingMessage | undefined;
  [waitingInAll]?: Count;
  [isCounted]?: boolean;
};

/** Shared by all connections with a request in progress and no waiting one. */
const noneWaiting: Work[] = [];

/** Marks a connection that carries out nothing more. */
const stopped: Work[] = [];

/**
 * Carries out a request after those before it: a client can send several without waiting for responses, and the second can
 * depend on the first (RFC 9112 §9.3.2). After a response that closes the connection, no further request is carried out.
 */
export function inOrder(connection: Connection, work: Work): void {
  const waiting = connection[waitingRequests];
  if (waiting === undefined) {
    connection[waitingRequests] = noneWaiting;
    carryOut(connection, work);
  } else if (waiting !== stopped) wait(connection, waiting, work);
}

/** Whether the service works on a request of this connection. */
export function isAtWork({ [waitingRequests]: waiting }: Connection): boolean {
  return waiting !== undefined && waiting !== stopped;
}

function wait(connection: Connection, waiting: Work[], work: Work): void {
  const inAll = connection[waitingInAll] as Count;
  if (waiting.length >= maxWaitingRequests || inAll.all >= maxWaitingInAll) {
    connection.destroy(); // a client that reads its responses never has that many
    return;
  }
  inAll.own++;
  if (waiting === noneWaiting) connection[waitingRequests] = [work];
  else waiting.push(work);
}

/** Carries out a request, and those that wait for it: in a loop, because thousands of them can be complete at once. */
function carryOut(connection: Connection, first: Work): void {
  for (let work: Work | undefined = first; work !== undefined; work = next(connection)) {
    const isOpen = begin(connection, work);
    if (isOpen instanceof Promise) {
      isOpen.then(
        (stays) => {
          if (!continues(connection, stays)) return;
          const following = next(connection);
          if (following !== undefined) carryOut(connection, following);
        },
        () => fail(connection),
      );
      return;
    }
    if (!continues(connection, isOpen)) return;
  }
}

/** Begins a request. The connection closes if that throws. */
function begin(connection: Connection, work: Work): boolean | Promise<boolean> {
  try {
    return work();
  } catch {
    fail(connection);
    return false;
  }
}

/** Whether the connection serves its next request. Closes it if the response says so. */
function continues(connection: Connection, isOpen: boolean): boolean {
  if (isOpen && !connection.destroyed) return true;
  stop(connection);
  if (!connection.destroyed) connection.destroySoon(); // as Node itself does for connections that it has not handed over
  return false;
}

/** The client learns that there is no response. */
function fail(connection: Connection): void {
  stop(connection);
  connection.destroy();
}

/** Takes the next request that waits. */
function next(connection: Connection): Work | undefined {
  const work = connection[waitingRequests]?.shift();
  if (work === undefined) connection[waitingRequests] = undefined;
  else (connection[waitingInAll] as Count).own--;
  return work;
}

function stop(connection: Connection): void {
  const waiting = connection[waitingRequests]?.length ?? 0;
  if (waiting > 0) (connection[waitingInAll] as Count).own -= waiting;
  connection[waitingRequests] = stopped;
}

/** Waits until a response was sent, or its client has closed the connection. Until then, its bytes count as held. */
export function untilRead(response: ServerResponse, connection: Socket, admission: Admission): Promise<void> {
  if (connection.destroyed) return Promise.resolve();
  const bytes = response.writableLength;
  admission.held += bytes;
  return new Promise((resolve) => {
    const done = () => {
      response.off("finish", done);
      connection.off("close", done); // Node does not always report this to the response
      admission.held -= bytes;
      resolve();
    };
    response.on("finish", done);
    connection.on("close", done);
  });
}

/** How long the client can take to read the response and to close the connection. */
const lingerMs = 5_000;

/**
 * Makes Node close only its side after the response, and discard what the client still sends (RFC 9112 §9.6). If the service closed
 * the connection at once, the system would reset it, and the client, or the proxy before it, would lose the response.
 */
export function closeGently({ socket }: IncomingMessage): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  };
}
