/**
 * Makes the data providers of react-admin for REST services work with Holdfast.
 *
 * `ra-data-simple-rest` and `ra-data-json-server` read the body of the response to a delete, which is empty, and send
 * the attributes of a partial update as a whole resource. This file runs in browsers and imports nothing. It does not need
 * the types of react-admin, because TypeScript compares the shapes.
 */

type Id = string | number;

/** The methods of a data provider that this file calls. */
export interface DataProviderBase {
  getList(resource: string, params: ListParams): Promise<unknown>;
  getManyReference(resource: string, params: ReferenceParams): Promise<unknown>;
  getOne(resource: string, params: { id: Id; meta?: unknown; signal?: AbortSignal }): Promise<unknown>;
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
  httpClient(
    url: string,
    options: { method?: string; body?: string; signal?: AbortSignal },
  ): Promise<{ json?: unknown }>;
}

/** The ids of one read must fit into its target. */
const idsPerRead = 100;

/** The maximum of `_bulk`. */
const idsPerBulk = 1_000;

/**
 * Makes a data provider from one of `ra-data-simple-rest` or `ra-data-json-server`. `update` and `updateMany` change only
 * the given attributes, `delete` and `deleteMany` return what react-admin expects, and `getMany` accepts any number of ids.
 * `updateMany` and `deleteMany` change all resources or none, up to 1,000 at once. Filters reach nested attributes,
 * `getManyReference` also follows references that are lists, and `meta.embed` adds related resources.
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

  /** Sends `one` for ids that a bulk change cannot reach, so that the service gives the reason. */
  async function changeMany(resource: string, ids: Id[], change: object, one: (id: Id) => Promise<unknown>) {
    for (const part of inParts(ids, idsPerBulk)) {
      const done = part.length === 1 ? new Set() : await bulk(resource, part, change);
      await Promise.all(part.filter((id) => !done.has(String(id))).map(one));
    }
    return { data: ids };
  }

  /** Changes resources with one request. Returns the ids of the resources that now have the wanted state. */
  async function bulk(resource: string, ids: Id[], change: object): Promise<ReadonlySet<string>> {
    const body = JSON.stringify({ filter: { id: ids }, ...change, max: ids.length });
    try {
      const { json } = await httpClient(`${url}/${resource}/_bulk`, { method: "POST", body });
      const { matched, ids: changed } = json as { matched: number; ids: Id[] };
      return new Set((matched === ids.length ? ids : changed).map(String));
    } catch (error) {
      if ((error as Failure).status !== 413) throw error; // too large for one change
      return new Set();
    }
  }

  /** The base providers send `meta.embed` in forms that the service does not have. */
  async function read(path: string, query: Record<string, string>, signal?: AbortSignal): Promise<unknown> {
    const target = `${url}/${path}?${new URLSearchParams(query)}`;
    return (await httpClient(target, signal === undefined ? {} : { signal })).json;
  }

  async function list(resource: string, embed: string, params: ListParams) {
    const { filter = {}, sort, pagination } = params;
    const query = {
      filter: JSON.stringify(filter),
      embed,
      envelope: "true",
      count: "exact",
      ...(sort && { sort: JSON.stringify([sort.field, sort.order]) }),
      ...(pagination && rangeOf(pagination)),
    };
    const { items, total } = (await read(resource, query, params.signal)) as Envelope;
    return { data: items, total };
  }

  function getList(resource: string, params: ListParams): Promise<unknown> {
    const embed = embedOf(params);
    const asked = withPaths(params);
    return embed === undefined ? base.getList(resource, asked) : list(resource, embed, asked);
  }

  function getReferring(resource: string, params: ReferenceParams): Promise<unknown> {
    if (embedOf(params) === undefined) return base.getManyReference(resource, withPaths(params));
    const { target, id, filter } = params;
    return getList(resource, { ...params, filter: { ...filter, [target]: id } });
  }

  /** The references that are known to be lists. */
  const lists = new Set<string>();

  return {
    ...base,
    getList,
    async getManyReference(resource: string, params: ReferenceParams) {
      const name = `${resource}/${params.target}`;
      const asList = () => getReferring(resource, { ...params, target: `${params.target}_like` });
      if (lists.has(name)) return asList();
      try {
        return await getReferring(resource, params);
      } catch (error) {
        if (!isOfType(error)) throw error;
        const found = await asList().catch(() => Promise.reject(error));
        lists.add(name);
        return found;
      }
    },
    async getOne(resource: string, params: { id: Id; meta?: unknown; signal?: AbortSignal }) {
      const embed = embedOf(params);
      if (embed === undefined) return base.getOne(resource, params);
      return { data: await read(`${resource}/${encodeURIComponent(params.id)}`, { embed }, params.signal) };
    },
    async getMany(resource: string, params: { ids: Id[]; meta?: unknown; signal?: AbortSignal }) {
      const embed = embedOf(params);
      const pages = await Promise.all(
        inParts(params.ids, idsPerRead).map(async (ids) => {
          if (embed === undefined) return (await base.getMany(resource, { ...params, ids })).data;
          const query = { filter: JSON.stringify({ id: ids }), embed, limit: "max" };
          return (await read(resource, query, params.signal)) as unknown[];
        }),
      );
      return { data: pages.flat() };
    },
    async update(resource: string, { id, data, previousData }: UpdateParams) {
      return { data: await patch(resource, id, previousData ? changesBetween(previousData, data) : data) };
    },
    updateMany: (resource: string, { ids, data }: { ids: Id[]; data: object }) =>
      changeMany(resource, ids, { patch: data }, (id) => patch(resource, id, data)),
    async delete(resource: string, params: { id: Id; previousData?: object }) {
      await base.delete(resource, params);
      return { data: params.previousData ?? { id: params.id } };
    },
    deleteMany: (resource: string, { ids, ...rest }: { ids: Id[] }) =>
      changeMany(resource, ids, { delete: true }, (id) => base.delete(resource, { ...rest, id })),
  };
}

interface ListParams {
  filter?: Attributes;
  sort?: { field: string; order: string };
  pagination?: { page: number; perPage: number };
  meta?: unknown;
  signal?: AbortSignal;
}

interface ReferenceParams extends ListParams {
  target: string;
  id: Id;
}

interface Envelope {
  items: unknown[];
  total: number;
}

/** What is known of an error of `httpClient`. */
interface Failure {
  status?: number;
  body?: { violations?: readonly { code: string }[] };
}

/** Whether the service refused to compare an attribute with a value of another type. */
function isOfType(error: unknown): boolean {
  const { status, body } = error as Failure;
  return status === 400 && body?.violations?.some(({ code }) => code === "type") === true;
}

/** The relations in `meta.embed`, as the service expects them; `undefined` without relations. */
function embedOf({ meta }: { meta?: unknown }): string | undefined {
  const { embed } = (meta ?? {}) as { embed?: string | readonly string[] };
  return embed === undefined || embed.length === 0 ? undefined : String(embed);
}

function rangeOf({ page, perPage }: { page: number; perPage: number }): Record<string, string> {
  return { offset: String((page - 1) * perPage), limit: String(perPage) };
}

interface UpdateParams {
  id: Id;
  data: Attributes;
  previousData?: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

const operators: ReadonlySet<string> = new Set(
  "eq ne gt gte lt lte in nin contains startsWith endsWith eqi ini containsi startsWithi any exists".split(
    " ",
  ),
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

function inParts(ids: readonly Id[], size: number): Id[][] {
  const count = Math.ceil(ids.length / size);
  return Array.from({ length: count }, (_, n) => ids.slice(n * size, (n + 1) * size));
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
