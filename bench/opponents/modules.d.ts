/** The used parts of packages that only the bench installs, so that the types compile without them. */

declare module "better-sqlite3" {
  interface Statement {
    run(...values: unknown[]): { changes: number };
    get(...values: unknown[]): unknown;
    all(...values: unknown[]): unknown[];
  }
  class Database {
    constructor(path: string);
    pragma(text: string): unknown;
    exec(sql: string): void;
    prepare(sql: string): Statement;
    close(): void;
  }
  export = Database;
}

declare module "express" {
  import type { IncomingMessage, Server, ServerResponse } from "node:http";

  interface Request extends IncomingMessage {
    params: Record<string, string>;
    query: Record<string, string | undefined>;
    body: Record<string, unknown>;
  }
  interface Response extends ServerResponse {
    status(code: number): Response;
    set(name: string, value: string): Response;
    location(url: string): Response;
    json(value: unknown): Response;
    sendStatus(code: number): Response;
  }
  type Handler = (request: Request, response: Response) => unknown;
  interface Application {
    use(handler: unknown): void;
    get(path: string, handler: Handler): void;
    post(path: string, handler: Handler): void;
    put(path: string, handler: Handler): void;
    patch(path: string, handler: Handler): void;
    delete(path: string, handler: Handler): void;
    listen(port: number, host: string, ready: () => void): Server;
  }
  function express(): Application;
  namespace express {
    function json(options: { type: readonly string[] }): unknown;
  }
  export = express;
}

declare module "knex" {
  interface Column {
    primary(): Column;
    notNullable(): Column;
  }
  interface Table {
    text(name: string): Column;
    float(name: string): Column;
    index(columns: readonly string[]): void;
  }
  function knex(options: object): knex.Knex;
  namespace knex {
    interface Knex {
      schema: { createTable(name: string, make: (table: Table) => void): Promise<void> };
      batchInsert(table: string, all: readonly object[], size: number): Promise<unknown>;
      destroy(): Promise<void>;
    }
  }
  export = knex;
}

declare module "@feathersjs/feathers" {
  export interface HookContext {
    data?: Record<string, unknown>;
    result?: unknown;
  }
  export function feathers(): unknown;
}

declare module "@feathersjs/koa" {
  import type { Server } from "node:http";

  interface Application {
    use(name: string, service: unknown): void;
    use(middleware: unknown): void;
    configure(part: unknown): void;
    service(name: string): { hooks(hooks: object): void };
    listen(port: number, host: string): Promise<Server>;
  }
  export function koa(app: unknown): Application;
  export function rest(): unknown;
  export function bodyParser(): unknown;
  export function errorHandler(): unknown;
  export function parseAuthentication(): unknown;
}

declare module "@feathersjs/knex" {
  export class KnexService {
    constructor(options: {
      Model: object;
      name: string;
      id: string;
      paginate: { default: number; max: number };
    });
  }
}

declare module "@feathersjs/errors" {
  export class BadRequest extends Error {}
}
