/**
 * The public interface for react-admin: makes its data providers for REST services work with Holdfast.
 *
 * `ra-data-simple-rest` and `ra-data-json-server` read the body of the response to a delete, which is empty, and send
 * the attributes of a partial update as a whole resource. This file runs in browsers and imports nothing. It does not need
 * the types of react-admin, because TypeScript compares the shapes.
 */

type Id = string | number;

/** The methods of a data provider that this file calls. */
export interface DataProviderBase {
  getList(resource: string, params: ListParams): Promise<unknown>;
  getManyReference(resource: string, params: ListParams): Promise<unknown>;
  getMany(
    resource: string,
    params: { ids: Id[]; meta?: unknown; signal?: AbortSignal },
  ): Promise<{ data: unknown[] }>;
  delete(resource: string, params: { id: Id; meta?: unknown }): Promise<unknown>;
}

/** How the data provider reaches the service. */
export interface HoldfastOptions {
  /** The base address of the collections, as for the data provider: `http://localhost:3000/api/v1`. */
  url: string;
  /** Sends requests, as for the data provider. Usually react-admin's `fetchUtils.fetchJson`. */
  httpClient(url: string, options: { method: string; body: string }): Promise<{ json?: unknown }>;
}

/** The ids of one request must fit into its target. */
const idsPerRequest = 100;

/**
 * Makes a data provider from one of `ra-data-simple-rest` or `ra-data-json-server`. `update` and `updateMany` change only
 * the given attributes, `delete` and `deleteMany` return what react-admin expects, `getMany` accepts any number of ids, and
 * filters reach nested attributes.
 */
export function holdfastDataProvider<Base extends DataProviderBase>(
  base: Base,
  { url, httpClient }: HoldfastOptions,
): Base {
  async function patch(resource: string, id: Id, changes: object): Promise<unknown> {
    const target = `${url}/${resource}/${encodeURIComponent(id)}`;
    const { json } = await httpClient(target, { method: "PATCH", body: JSON.stringify(changes) });
    return json;
  }

  return {
    ...base,
    getList: (resource: string, params: ListParams) => base.getList(resource, withPaths(params)),
    getManyReference: (resource: string, params: ListParams) =>
      base.getManyReference(resource, withPaths(params)),
    async getMany(resource: string, params: { ids: Id[] }) {
      const pages = await Promise.all(
        inParts(params.ids).map((ids) => base.getMany(resource, { ...params, ids })),
      );
      return { data: pages.flatMap(({ data }) => data) };
    },
    async update(resource: string, { id, data, previousData }: UpdateParams) {
      return { data: await patch(resource, id, previousData ? changesBetween(previousData, data) : data) };
    },
    async updateMany(resource: string, { ids, data }: { ids: Id[]; data: object }) {
      await Promise.all(ids.map((id) => patch(resource, id, data)));
      return { data: ids };
    },
    async delete(resource: string, params: { id: Id; previousData?: object }) {
      await base.delete(resource, params);
      return { data: params.previousData ?? { id: params.id } };
    },
    async deleteMany(resource: string, { ids, ...rest }: { ids: Id[] }) {
      await Promise.all(ids.map((id) => base.delete(resource, { ...rest, id })));
      return { data: ids };
    },
  };
}

interface ListParams {
  filter?: Attributes;
}

interface UpdateParams {
  id: Id;
  data: Attributes;
  previousData?: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

const operators: ReadonlySet<string> = new Set(
  "eq ne gt gte lt lte in nin contains startsWith endsWith exists".split(" "),
);

/** An input for `author.name` produces the filter `{ author: { name } }`. The service expects `author.name`. */
function withPaths<Params extends ListParams>(params: Params): Params {
  return params.filter ? { ...params, filter: pathsOf(params.filter) } : params;
}

function pathsOf(filter: Attributes): Attributes {
  const entries = Object.entries(filter).flatMap(([name, value]) => {
    if (!isObject(value) || Object.keys(value).some((key) => operators.has(key))) return [[name, value]];
    return Object.entries(pathsOf(value)).map(([path, inner]) => [`${name}.${path}`, inner]);
  });
  return Object.fromEntries(entries);
}

function inParts(ids: readonly Id[]): Id[][] {
  const count = Math.ceil(ids.length / idsPerRequest);
  return Array.from({ length: count }, (_, n) => ids.slice(n * idsPerRequest, (n + 1) * idsPerRequest));
}

/** A merge patch (RFC 7396). It keeps attributes that `after` does not name, because `after` can be incomplete. */
function changesBetween(before: Attributes, after: Attributes): Attributes {
  const changes = Object.entries(after).flatMap(([name, value]) => {
    const old = before[name];
    if (JSON.stringify(old) === JSON.stringify(value)) return [];
    return [[name, isObject(old) && isObject(value) ? replacement(old, value) : (value ?? null)]];
  });
  return Object.fromEntries(changes);
}

/** An object inside a resource is always complete, so a missing member has been removed. */
function replacement(before: Attributes, after: Attributes): Attributes {
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...changesBetween(before, after) };
}

function isObject(value: unknown): value is Attributes {
  return Object.prototype.toString.call(value) === "[object Object]";
}
