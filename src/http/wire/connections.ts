/**
 * The requests of one connection, one after the other, and what its client has not read yet. A connection holds one
 * unread answer at most: the next request is carried out when the one before has gone out.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Budget } from "../limits/budget.ts";

/** What waits on a connection for the request under way; `undefined` where nothing is under way. */
const waitingRequests = Symbol("waiting requests");

/** Requests of one connection that may wait for the one under way. */
const maxWaitingRequests = 1_000;

/** Requests of all connections of one application that may wait so. */
const maxWaitingInAll = 10_000;

/** How many requests wait on all connections of one application. */
export interface WaitingInAll {
  count: number;
}

/** The count that a connection belongs to. */
export const waitingInAll = Symbol("waiting in all");

/** Answers one request; gives whether the connection stays open. */
export type Work = () => Promise<boolean>;

/** The request that a connection's last bytes belong to. */
export const latestRequest = Symbol("latest request");

/** A socket, with what is known of its requests. */
export type Connection = Socket & {
  [waitingRequests]?: Work[] | undefined;
  [latestRequest]?: IncomingMessage | undefined;
  [waitingInAll]?: WaitingInAll;
};

/** Shared by the many connections on which nothing waits. */
const noneWaiting: Work[] = [];

/** Stands for what waits on a connection on which nothing more is carried out. */
const noneTaken: Work[] = [];

/**
 * Requests that were sent one after the other without waiting are carried out one after the other: the second may
 * stand on what the first does (RFC 9112 §9.3.2). After an answer that closes the connection, what still came
 * along is not carried out.
 */
export function inOrder(connection: Connection, work: Work): void {
  const waiting = connection[waitingRequests];
  if (waiting === undefined) {
    connection[waitingRequests] = noneWaiting;
    carryOut(connection, work);
  } else if (waiting !== noneTaken) wait(connection, waiting, work);
}

/** Whether the service works on a request of this connection. */
export function isAtWork({ [waitingRequests]: waiting }: Connection): boolean {
  return waiting !== undefined && waiting !== noneTaken;
}

function wait(connection: Connection, waiting: Work[], work: Work): void {
  const inAll = countOf(connection);
  if (waiting.length >= maxWaitingRequests || inAll.count >= maxWaitingInAll) {
    connection.destroy(); // nobody sends so many requests who also reads the answers
    return;
  }
  inAll.count++;
  if (waiting === noneWaiting) connection[waitingRequests] = [work];
  else waiting.push(work);
}

function countOf(connection: Connection): WaitingInAll {
  connection[waitingInAll] ??= { count: 0 };
  return connection[waitingInAll];
}

function carryOut(connection: Connection, work: Work): void {
  work().then(
    (isOpen) => {
      if (connection.destroyed) return takeNoMore(connection);
      if (isOpen) return goOn(connection);
      takeNoMore(connection);
      connection.destroySoon(); // as Node does itself, unless it has handed the connection over
    },
    () => {
      takeNoMore(connection);
      connection.destroy(); // the client learns that there is no answer
    },
  );
}

function goOn(connection: Connection): void {
  const next = connection[waitingRequests]?.shift();
  if (next === undefined) {
    connection[waitingRequests] = undefined;
    return;
  }
  countOf(connection).count--;
  carryOut(connection, next);
}

function takeNoMore(connection: Connection): void {
  countOf(connection).count -= connection[waitingRequests]?.length ?? 0;
  connection[waitingRequests] = noneTaken;
}

/** Waits until an answer that was ended has gone out or its client has gone; until then its bytes are held. */
export function untilRead(response: ServerResponse, connection: Socket, budget: Budget): Promise<void> {
  if (connection.destroyed) return Promise.resolve();
  const bytes = response.writableLength;
  budget.held += bytes;
  return new Promise((resolve) => {
    const done = () => {
      response.off("finish", done);
      connection.off("close", done); // which the response need not learn of when another was before it
      budget.held -= bytes;
      resolve();
    };
    response.on("finish", done);
    connection.on("close", done);
  });
}
