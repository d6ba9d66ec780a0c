/** Resources that each hold a marker, to find them in a trace. */
import assert from "node:assert/strict";
import { createClient } from "./program.ts";

export const writes = 200;

const clients = 8;

/** Creates resources that each hold a marker, from several clients at once. */
export async function createMarked(port: number): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const client = createClient(port);
      for (let n = index; n < writes; n += clients) {
        const answer = await client.send("POST", "/things", { marker: markerOf(n) });
        assert.equal(answer?.status, 201);
      }
      client.close();
    }),
  );
}

export const markerOf = (n: number) => `marker-${String(n).padStart(5, "0")}-`;
