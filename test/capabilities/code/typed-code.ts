/** The types of the clients in functions. `npm run types` checks this file; nothing runs it. */
import type { Client } from "holdfast-client";
import {
  defineConfig,
  type InsideClient,
  isProblem,
  typedCode,
  job as untypedJob,
  route as untypedRoute,
} from "../../../src/index.ts";

const { collections, route, job, withConsumers } = typedCode({
  events: {
    schema: {
      type: "object",
      required: ["title", "seats", "booked"],
      properties: { title: { type: "string" }, seats: { type: "integer" }, booked: { type: "integer" } },
    },
    defaults: { booked: 0 },
    hooks: {
      validate: ({ resource }) => void resource.title,
    },
    computed: {
      free: { schema: { type: "integer" }, from: ["seats"], value: ({ seats }: { seats: number }) => seats },
    },
  },
  bookings: {
    schema: {
      type: "object",
      required: ["eventId"],
      properties: { eventId: { type: "string" }, state: { enum: ["open", "paid"] } },
    },
    timestamps: true,
  },
});

export const config = defineConfig({
  collections: withConsumers({
    bookings: {
      mail: {
        types: ["created"],
        as: "service",
        run: async ({ event, client }) => {
          const state: "open" | "paid" | undefined = event.data.state;
          await client.events.update(event.data.eventId, { booked: { $increment: 1 } });
          // @ts-expect-error No attribute has this name.
          void event.data.eventIdd;
          // @ts-expect-error No collection has this name.
          await client.event.get(event.data.eventId);
          return state;
        },
      },
    },
    // @ts-expect-error No collection has this name.
    booking: {},
  }),
  routes: {
    book: route({
      method: "POST",
      path: "book/{eventId}",
      access: "public",
      body: { type: "object", properties: { paid: { type: "boolean" } }, required: ["paid"] },
      response: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      as: "service",
      run: async ({ params: { eventId }, body, client, service }) => {
        const event = await client.events.get(eventId);
        const free: number | undefined = event.free;
        // @ts-expect-error No attribute has this name.
        void event.sets;
        // @ts-expect-error No collection has this name.
        await client.booking.get("1");
        // @ts-expect-error No collection has this name.
        await service.event.get("1");
        // @ts-expect-error No attribute has this name.
        await service.bookings.create({ eventId, stat: "open" });
        // @ts-expect-error The attribute is missing.
        await service.bookings.create({ state: "open" });
        // @ts-expect-error A state is one of the enum.
        await service.bookings.create({ eventId, state: "lost" });
        // @ts-expect-error Clients cannot write what is computed.
        await client.events.create({ title: "One", seats: free ?? 0, free: 1 });
        try {
          const [booking] = await service.$batch(({ bookings, events }) => [
            bookings.create({ eventId, state: body.paid ? "paid" : "open" }),
            events.update(eventId, { booked: { $increment: 1 } }),
          ]);
          return { id: booking.id };
        } catch (error) {
          if (isProblem(error, "VALIDATION_FAILED")) return { id: error.message };
          throw error;
        }
      },
    }),
    noService: route({
      path: "none",
      access: "public",
      // @ts-expect-error Without `as`, there is no service.
      run: ({ service }) => service,
    }),
    wrongResponse: route({
      path: "wrong",
      access: "public",
      response: { type: "integer" },
      // @ts-expect-error The response is a number.
      run: () => "one",
    }),
    untyped: untypedRoute({
      path: "untyped",
      access: "public",
      run: ({ client }) => client.anything?.create({ any: "thing" }),
    }),
  },
  jobs: {
    digest: job({
      cron: "0 7 * * 1",
      as: "service",
      run: async ({ client, due }) => {
        for await (const { title } of client.events.list({ filter: { seats: { gt: due.getTime() } } }))
          void title.length;
        // @ts-expect-error No collection has this name.
        await client.event.list().all();
        // @ts-expect-error No attribute has this name.
        await client.bookings.patch("1", { sate: "paid" });
      },
    }),
    noClient: job({
      cron: "0 7 * * 1",
      // @ts-expect-error Without `as`, there is no client.
      run: ({ client }) => client,
    }),
    untyped: untypedJob({
      cron: "0 7 * * 1",
      as: "service",
      run: ({ client }) => client.anything?.list().all(),
    }),
  },
});

// @ts-expect-error No option has this name.
typedCode({ events: { timestamp: true } });

/** A function of its own can name the type of the client. */
export const countOf = (client: InsideClient<{ collections: typeof collections }>) =>
  client.events.list().all();

/** Routes without a body, a query or a response, in the place where a configuration has them. */
const inPlace = defineConfig({
  routes: {
    plain: untypedRoute({ method: "POST", path: "plain/{id}", access: "public", run: () => 1 }),
    typed: route({ path: "typed/{id}", access: "public", response: { type: "integer" }, run: () => 1 }),
  },
});

export const callAll = async ({ $call }: Client<typeof inPlace>) => {
  const id: string = "1";
  const result: unknown = await $call.plain({ id });
  const sum: number = await $call.typed({ id });
  // @ts-expect-error The route has no body.
  await $call.plain({ id }, { text: "one" });
  return [result, sum];
};

/** Programs outside get the same types. */
export const titleOf = async (client: Client<typeof config>) => (await client.events.get("1")).title;
