/** Who can use each endpoint, as a table to read. An endpoint without a line here fails the test: think about who may use it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointPath, Who } from "../../../src/http/service.ts";
import { endpointTable } from "../endpoint-table.ts";

/**
 * `anyone` needs no credential. `caller`: each caller gets what it can see. `writer` can write something. `administrator`: for all
 * others, the path does not exist. The other words are actions in the collection, and the caller must be able to do one of them.
 * `outside` is outside the prefix.
 */
const table = `
GET     /                                                 outside  anyone
GET     /livez                                            outside  anyone
GET     /readyz                                           outside  anyone
GET     /healthz                                          outside  anyone
GET     /problems/{slug}                                  outside  anyone
GET     /openapi.json                                     outside  anyone
GET     /openapi-3.2.json                                 outside  anyone
GET     /asyncapi.json                                    outside  anyone
GET     /.well-known/api-catalog                          outside  anyone
GET     /docs                                             outside  anyone
GET     /docs/{file}                                      outside  anyone
GET     /_console/{file}                                  outside  anyone
GET     /_sign-in                                         outside  anyone
GET     /.well-known/change-password                      outside  anyone
POST    /_console/first-key                               outside  caller
GET     /metrics                                          outside  administrator

GET     /                                                          caller
GET     /_collections                                              caller
POST    /_access                                                   caller
GET     /_events                                                   caller
POST    /_batch                                                    writer
POST    /_rewind                                                   administrator
GET     /_tasks                                                    caller
GET     /_tasks/{id}                                               caller
DELETE  /_tasks/{id}                                               caller
POST    /_tasks/{id}/_undo                                         caller
GET     /_configuration                                            administrator
GET     /_auth                                                     caller
POST    /_auth/sign-up                                             caller
POST    /_auth/invitation                                          caller
POST    /_auth/code                                                caller
POST    /_auth/reset                                               caller
POST    /_auth/sign-in                                             caller
POST    /_auth/confirm                                             caller
POST    /_auth/password                                            caller
POST    /_auth/email                                               caller
POST    /_auth/passkey                                             caller
POST    /_auth/second-factor                                       caller
GET     /_auth/factors                                             caller
POST    /_auth/factors                                             caller
DELETE  /_auth/factors/{id}                                        caller
POST    /_auth/recovery-codes                                      caller
GET     /_auth/sessions                                            caller
POST    /_auth/sessions                                            caller
DELETE  /_auth/sessions/{id}                                       caller
POST    /_auth/sign-out                                            caller
GET     /_auth/providers/{name}                                    caller
GET     /_auth/providers/{name}/callback                           caller
GET     /_auth/identities                                          caller
POST    /_auth/identities                                          caller
DELETE  /_auth/identities/{id}                                     caller
GET     /_accounts                                                 administrator
GET     /_accounts/{id}                                            administrator
PATCH   /_accounts/{id}                                            administrator
DELETE  /_accounts/{id}                                            administrator
GET     /_accounts/{id}/_sessions                                  administrator
POST    /_accounts/{id}/_sign-out                                  administrator
POST    /_accounts/{id}/_reset                                     administrator
POST    /_accounts/{id}/_reset-factors                             administrator
GET     /_accounts/{id}/_identities                                administrator
DELETE  /_accounts/{id}/_identities/{identity}                     administrator
GET     /_audit                                                    administrator
GET     /_invitations                                              administrator
POST    /_invitations                                              administrator
GET     /_invitations/{id}                                         administrator
DELETE  /_invitations/{id}                                         administrator
GET     /_mails                                                    administrator
GET     /_keys                                                     administrator
POST    /_keys                                                     administrator
GET     /_keys/{id}                                                administrator
POST    /_keys/{id}/_rotate                                        administrator
POST    /_keys/{id}/_revoke                                        administrator
GET     /_code                                                     administrator
GET     /_consumers                                                administrator
GET     /_consumers/{collection}/{name}                            administrator
PATCH   /_consumers/{collection}/{name}                            administrator
GET     /_consumers/{collection}/{name}/_deliveries                administrator
POST    /_consumers/{collection}/{name}/_deliveries/{event}/_retry administrator
POST    /_consumers/{collection}/{name}/_deliveries/{event}/_skip  administrator
GET     /_jobs                                                     administrator
GET     /_jobs/{name}                                              administrator
POST    /_jobs/{name}/_run                                         administrator
GET     /_webhooks/{id}/_status                                    administrator
GET     /_webhooks/{id}/_deliveries                                administrator
POST    /_webhooks/{id}/_deliveries/{event}/_retry                 administrator
POST    /_webhooks/{id}/_test                                      administrator
POST    /_webhooks/{id}/_rotate                                    administrator

GET     /{collection}                                              list
POST    /{collection}                                              create
QUERY   /{collection}                                              list
PUT     /{collection}                                              create update
PATCH   /{collection}                                              update
DELETE  /{collection}                                              delete
GET     /{collection}/_events                                      list
POST    /{collection}/_bulk                                        update delete
GET     /{collection}/_deleted                                     list
QUERY   /{collection}/_deleted                                     list
POST    /{collection}/_deleted/_restore                            create
POST    /{collection}/_import                                      administrator
GET     /{collection}/{id}                                         read
PUT     /{collection}/{id}                                         update
PATCH   /{collection}/{id}                                         update
DELETE  /{collection}/{id}                                         delete
GET     /{collection}/{id}/_changes                                read
POST    /{collection}/{id}/_restore                                update create
GET     /{collection}/{id}/{relation}                              list
POST    /{collection}/{id}/{relation}                              create
QUERY   /{collection}/{id}/{relation}                              list
`;

const words = { public: "anyone", everyone: "caller", writers: "writer", administrators: "administrator" };

const wordsOf = (who: Who) => (typeof who === "string" ? words[who] : Object.values(who).flat().join(" "));

/** A line for each method. HEAD is as GET. */
const linesOf = ({ methods, template, isOutside }: EndpointPath) =>
  [...methods]
    .filter(([method]) => method !== "HEAD")
    .map(([method, { who }]) =>
      [method, template, ...(isOutside ? ["outside"] : []), wordsOf(who)].join(" "),
    );

test("the table of who can use each endpoint has every endpoint", () => {
  const { paths, forBrowsers } = endpointTable;
  const all = [...(forBrowsers === undefined ? [] : [forBrowsers]), ...paths];
  const lines = table.split("\n").filter((line) => line !== "");
  assert.deepEqual(lines.map((line) => line.replaceAll(/ +/g, " ")).sort(), all.flatMap(linesOf).sort());
});
