/** What a resource refers to, and what refers to it. */
import { Loader } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { CollectionDetails } from "holdfast-client";
import { shortId } from "../parts/formats.ts";
import { Problem } from "../parts/problem.tsx";
import { formatRoute } from "../route.ts";
import { useCollection } from "../service/collections.ts";
import { firstOnly } from "../service/queries.ts";
import { propertiesOf, titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { valueAt } from "./edit.ts";
import { useReferred } from "./reference-editor.tsx";

type Relation = CollectionDetails["relations"][number];

/** How many resources of a relation are shown. */
const maxShown = 10;

export function RelatedTab({ info, current }: { info: CollectionDetails | undefined; current: Resource }) {
  const relations = info?.relations ?? [];
  if (relations.length === 0) return <div className="empty">{texts.resource.noRelations}</div>;
  return (
    <div className="related">
      {relations.map((relation) =>
        relation.kind === "reference" ? (
          <Forward key={relation.name} relation={relation} value={valueAt(current, relation.attribute)} />
        ) : (
          <Inverse key={relation.name} relation={relation} id={String(current.id)} />
        ),
      )}
    </div>
  );
}

/** The resources that an attribute refers to. */
function Forward({ relation, value }: { relation: Relation; value: unknown }) {
  const all = (Array.isArray(value) ? value : [value]).filter(
    (each) => typeof each === "string" || typeof each === "number",
  );
  const ids = [...new Set(all.map(String))];
  const rest = ids.length - maxShown;
  return (
    <section className="card relation">
      <h3>
        {relation.name}
        <span className="soft">{texts.resource.refersTo(relation.attribute, relation.collection)}</span>
      </h3>
      {ids.length === 0 ? (
        <p className="soft">
          {value === null ? "null" : value === undefined ? texts.absent : texts.resource.emptyList}
        </p>
      ) : (
        <ul>
          {ids.slice(0, maxShown).map((id) => (
            <li key={id}>
              <ForwardLink collection={relation.collection} id={id} />
            </li>
          ))}
        </ul>
      )}
      {rest > 0 && <p className="soft">{texts.andMore(rest)}</p>}
    </section>
  );
}

function ForwardLink({ collection, id }: { collection: string; id: string }) {
  const { title, isMissing } = useReferred(collection, id);
  return <Row collection={collection} id={id} title={isMissing ? texts.resource.notFound : title} />;
}

function Row({ collection, id, title }: { collection: string; id: string; title: string | undefined }) {
  return (
    <a
      className="relation-row"
      href={formatRoute({ kind: "resource", collection, query: "", id, tab: "fields" })}
    >
      <span className="name">{title ?? id}</span>
      {title !== undefined && <span className="id">{shortId(id)}</span>}
      <IconChevronRight size={14} aria-hidden="true" />
    </a>
  );
}

/** The resources of another collection that refer to this one. */
function Inverse({ relation, id }: { relation: Relation; id: string }) {
  const { collection, attribute } = relation;
  const info = useCollection(collection);
  const part = propertiesOf(info)[attribute];
  const isList =
    typeof part === "object" &&
    (part.type === "array" || (Array.isArray(part.type) && part.type.includes("array")));
  const query = new URLSearchParams({ [isList ? `${attribute}:contains` : attribute]: id }).toString();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["related", collection, query],
    queryFn: ({ signal }) =>
      collectionClient(collection)
        .list({ query: `${query}&${firstOnly(maxShown + 1)}`, signal })
        .page(),
  });
  const items = (data?.items ?? []) as unknown as Resource[];
  return (
    <section className="card relation">
      <h3>
        {relation.name}
        <span className="soft">{texts.resource.referredBy(collection, attribute)}</span>
        <span className="grow" />
        {data?.total !== undefined && <span className="soft">{data.total.toLocaleString("en")}</span>}
      </h3>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {isPending && <Loader size="xs" m="xs" />}
      {data !== undefined && items.length === 0 && <p className="soft">{texts.resource.noneRelated}</p>}
      <ul>
        {items.slice(0, maxShown).map((each) => (
          <li key={each.id}>
            <Row
              collection={collection}
              id={String(each.id)}
              title={titleOf(each) ?? firstText(each, attribute)}
            />
          </li>
        ))}
      </ul>
      {items.length > maxShown && (
        <a className="show-all" href={formatRoute({ kind: "list", collection, query })}>
          {texts.resource.showAll}
        </a>
      )}
    </section>
  );
}

/** A text of a resource without a title. */
function firstText(resource: Resource, except: string): string | undefined {
  const found = Object.entries(resource).find(
    ([name, value]) =>
      typeof value === "string" && value !== "" && !["id", "createdAt", "updatedAt", except].includes(name),
  );
  return found === undefined ? undefined : String(found[1]).slice(0, 120);
}
