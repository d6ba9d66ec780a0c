/** The requests that react-admin sends, without its pages. Run: npm start, then npx node examples/react-admin.ts */
import { holdfastDataProvider } from "holdfast-react-admin";
import { type DataProvider, fetchUtils } from "ra-core";
import simpleRestProvider from "ra-data-simple-rest";

const url = process.argv[2] ?? "http://127.0.0.1:3000/api/v1";
const httpClient = fetchUtils.fetchJson;

// In an application, use it as <Admin dataProvider={dataProvider}>.
const dataProvider: DataProvider = holdfastDataProvider(simpleRestProvider(url, httpClient), {
  url,
  httpClient,
});

const create = (data: object) => dataProvider.create("topics", { data });
const { data: first } = await create({ title: "Winter", views: 1, status: "open" });
const { data: second } = await create({ title: "Spring", views: 20, status: "open" });

await dataProvider.update("topics", { id: first.id, data: { ...first, views: 10 }, previousData: first });
const { data, total } = await dataProvider.getList("topics", {
  pagination: { page: 1, perPage: 10 },
  sort: { field: "views", order: "DESC" },
  filter: { views_gte: 10, title_like: "in" },
});
console.log(
  data.map(({ title, views }) => `${title} ${views}`),
  total,
); // [ 'Spring 20', 'Winter 10' ] 2

const { data: gone } = await dataProvider.deleteMany("topics", { ids: [first.id, second.id] });
console.log(gone?.length); // 2
