/** The types of the functions of a collection. `npm run types` checks this file; nothing runs it. */
import type { InputOf, ResourceOf } from "holdfast-client";
import { collection, defineConfig, refuse } from "../../../src/index.ts";

const config = defineConfig({
  collections: {
    orders: collection({
      schema: {
        type: "object",
        properties: {
          lines: {
            type: "array",
            items: {
              type: "object",
              properties: { price: { type: "number" }, count: { type: "integer" } },
              required: ["price", "count"],
            },
          },
          total: { type: "number" },
          state: { enum: ["open", "paid"] },
        },
        required: ["lines", "total"],
      },
      timestamps: true,
      hooks: {
        before: ({ resource, previous }) => {
          const before: number | undefined = previous?.total;
          const sum: number = resource.lines.reduce(
            (all, { price, count }) => all + price * count,
            before ?? 0,
          );
          return { ...resource, total: sum };
        },
        validate: ({ resource }) => {
          // @ts-expect-error A state is one of the enum.
          if (resource.state === "lost") refuse("state", "is lost");
          // @ts-expect-error No attribute has this name.
          if (resource.totl > 3) refuse("total", "is too high");
        },
      },
      after: {
        mail: {
          run: ({ event }) => {
            const state: "open" | "paid" | undefined = event.data.state;
            return state;
          },
        },
      },
    }),
    // @ts-expect-error No option has this name.
    misspelled: collection({ schema: { type: "object" }, timestamp: true }),
  },
});

type Orders = (typeof config)["collections"]["orders"];

export const order: ResourceOf<Orders> = {
  id: "1",
  lines: [{ price: 1, count: 2 }],
  total: 2,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};

export const input: InputOf<Orders> = { lines: [], total: 0 };
