/** Collections with a history. */
export const collections = {
  topics: {},
  counters: { id: "integer" },
  strict: {
    schema: { type: "object", properties: { n: { type: "integer" }, m: { type: "integer" } } },
  },
} as const;

export const gone = {
  status: 404,
  headers: { "Content-Length": "0", "Content-Type": undefined, ETag: undefined },
};

export interface Shown {
  version: number;
  kind: string;
  at: string;
}
