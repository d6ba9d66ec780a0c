/**
 * What it gains on PostgreSQL that requests travel together: the service against itself with one statement a request, the
 * database beside it on the same processor.
 */
import { has } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { databaseFor } from "../harness/postgres.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Side, type Turns } from "../harness/turns.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 10_000;

/** Measures reads and creates, a round of each kind in turn. */
export async function measureTravelling(effort: Effort): Promise<Figure[]> {
  if (!has("taskset"))
    return [{ what: "PostgreSQL, requests together against one by one", value: "skipped, needs taskset" }];
  return inFolder(async (folder) => {
    const together = await kindIn(`${folder}/together`, true);
    const apart = await kindIn(`${folder}/apart`, false);
    const options = { connections: 64, loadCpu: 1 };
    const reads = await measureInTurn({ together, apart }, effort, options);
    const writing = ({ server }: Side): Side => ({ server, requests: creates, status: "201" });
    const written = await measureInTurn(
      { together: writing(together), apart: writing(apart) },
      effort,
      options,
    );
    await stopServer(together.server);
    await stopServer(apart.server);
    return [figure("GET by id", reads, 2), figure("POST", written, 3)];
  });
}

/** The service on its own database, and reads of it. */
async function kindIn(folder: string, groupCommit: boolean): Promise<Side> {
  const store = await databaseFor(folder);
  const ids = await fillStore(store, resources, sampleAttributes);
  const server = await startServer("holdfast", { store, groupCommit }, { cpu: 0 });
  return { server, requests: ids.map((id) => requestText("GET", `/api/v1/articles/${id}`)), status: "200" };
}

const creates = Array.from({ length: 1_000 }, (_, n) =>
  requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n))),
);

function figure(
  what: string,
  { together, apart }: Record<"together" | "apart", Turns>,
  atLeast: number,
): Figure {
  const sentence = `${what} on PostgreSQL, requests together against one statement each`;
  return figureOf(
    sentence,
    { ours: together.rates, theirs: apart.rates },
    { aim: { atLeast }, show: showRate },
  );
}
