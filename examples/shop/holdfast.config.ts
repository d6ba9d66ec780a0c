/**
 * A shop: prices that no client sets, stock that is never sold twice, payments, and shipments of what is paid.
 * Run: npx node examples/shop/payments.ts, then npx holdfast serve --config examples/shop/holdfast.config.ts
 */
import { defineConfig, isProblem, refuse, typedCode } from "holdfast";

const payments = process.env.PAYMENTS ?? "http://127.0.0.1:4000/";
const text = { type: "string", maxLength: 200 } as const;
const count = { type: "integer", minimum: 1, maximum: 1000 } as const;
const cents = { type: "integer", minimum: 0 } as const; // sums of whole numbers are exact
const asked = { productId: text, count, email: { type: "string", format: "email" } } as const;
const { route, withConsumers } = typedCode({
  products: {
    schema: {
      type: "object",
      required: ["name", "price", "stock"],
      // No commit makes the stock less than 0, however many orders come at once.
      properties: { name: text, price: cents, stock: { type: "integer", minimum: 0 } },
    },
    access: { read: "public", write: { role: "clerk" } },
  },
  orders: {
    schema: {
      type: "object",
      required: ["productId", "count", "email", "state"],
      properties: { ...asked, price: cents, state: { enum: ["open", "paid"] } },
    },
    defaults: { state: "open" },
    references: { productId: "products" },
    access: { read: { role: "clerk" } }, // only the routes write
    hooks: {
      with: ["product"],
      before: ({ operation, resource, related: { product } }) => {
        if (operation !== "create") return;
        if (product === undefined) refuse("productId", "is the id of no product");
        return { ...resource, price: product.price }; // an order keeps the price of its first day
      },
    },
    computed: {
      total: {
        schema: cents,
        from: ["count", "price"],
        value: ({ count, price }: { count: number; price: number }) => count * price,
      },
    },
  },
  shipments: {
    schema: { type: "object", required: ["state"], properties: { state: { enum: ["waiting", "sent"] } } },
    access: { read: { role: "clerk" }, update: { role: "clerk" } },
  },
});

export default defineConfig({
  store: "sqlite:shop.db",
  auth: { keys: true },
  collections: withConsumers({
    orders: {
      ship: {
        filter: { state: "paid" },
        as: "service",
        // An event can come twice, but only one shipment can have the id of the order.
        run: ({ event, client }) =>
          client.shipments.create({ state: "waiting" }, { id: event.subject }).catch((error) => {
            if (!isProblem(error, "PRECONDITION_FAILED")) throw error;
          }),
      },
    },
  }),
  routes: {
    buy: route({
      method: "POST",
      path: "buy",
      access: "public",
      body: { type: "object", required: ["productId", "count", "email"], properties: asked },
      as: "service",
      run: async ({ body: order, service }) => {
        // The order and the new stock are one commit: both or nothing.
        try {
          const [made] = await service.$batch(({ orders, products }) => [
            orders.create(order),
            products.update(order.productId, { stock: { $increment: -order.count } }),
          ]);
          return made;
        } catch (error) {
          if (!isProblem(error, "VALIDATION_FAILED")) throw error;
          if (error.problem.operation === 1) refuse("count", "is more than the stock");
          refuse("productId", "is the id of no product");
        }
      },
    }),
    pay: route({
      method: "POST",
      path: "pay/{orderId}",
      access: "public",
      body: { type: "object", required: ["card"], properties: { card: text } },
      as: "service",
      run: async ({ params: { orderId }, body: { card }, service, signal }) => {
        const [order] = await service.orders.list({ filter: { id: orderId } }).all();
        if (order === undefined) refuse(`No order has the id ${orderId}`);
        // The payment service charges once for a key, also if this request comes again.
        const headers = { "Content-Type": "application/json", "Idempotency-Key": orderId };
        const body = JSON.stringify({ card, amount: order.total });
        const charge = await fetch(payments, { method: "POST", headers, body, signal });
        if (!charge.ok) refuse("card", "is not accepted");
        return service.orders.patch(orderId, { state: "paid" });
      },
    }),
  },
});
