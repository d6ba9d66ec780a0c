/** A configuration whose start waits until the total of each stored order is computed, because an access rule names it. */
export const awaitedTotal = ({ value, version = 1, head = "" }: Total) => `${head}
const pause = new Int32Array(new SharedArrayBuffer(4));
export default {
  auth: { keys: true },
  code: { hookMs: 1_000 },
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "integer" } } },
      access: { read: [{ where: { total: { gte: 1 } } }], create: "public" },
      computed: { total: { schema: { type: "number" }, from: ["n"], version: ${version}, value: ${value} } },
    },
  },
};
`;

interface Total {
  /** The source of the function. It can wait with `Atomics.wait(pause, …)`. */
  value: string;
  version?: number;
  /** Imports of the module, as source. */
  head?: string;
}
