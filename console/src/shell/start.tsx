/** The first page: the collections, and how to begin where there are none. */
import { Button, Loader } from "@mantine/core";
import type { CollectionDetails } from "holdfast-client";
import { Head } from "../parts/head.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { formatRoute } from "../route.ts";
import { useIsAdministrator } from "../service/administrator.ts";
import { useCollections } from "../service/collections.ts";
import { propertiesOf } from "../service/schema.ts";
import { askForCredential } from "../service/session.ts";
import { listTexts, signInTexts, texts } from "../texts.ts";
import { NewCollectionButton, NewCollectionForm } from "./new-collection.tsx";

export function Start() {
  const { data: collections, error, refetch } = useCollections();
  const isAdministrator = useIsAdministrator();
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (collections === undefined) return <Loader size="sm" m="lg" aria-label={texts.loading} />;
  const isEmpty = collections.length > 0 && collections.every(({ count }) => count === 0);
  const canCreate = collections.some(({ operations }) => operations.includes("create"));
  return (
    <div className="start">
      <Head title={texts.collections}>{collections.length > 0 && <NewCollectionButton />}</Head>
      {collections.length > 0 && <Cards collections={collections} />}
      {collections.length === 0 && isAdministrator === true && (
        <div className="hero">
          <p>{listTexts.firstHint}</p>
          <NewCollectionForm title={listTexts.firstTitle} />
        </div>
      )}
      {collections.length === 0 && isAdministrator === false && (
        <Empty title={signInTexts.nothingToSee} hint={signInTexts.nothingToSeeHint}>
          <Button mt="xs" onClick={askForCredential}>
            {texts.signIn}
          </Button>
        </Empty>
      )}
      {isEmpty && (
        <p className="soft">{listTexts.emptyDeclared({ canCreate, canImport: isAdministrator === true })}</p>
      )}
    </div>
  );
}

function Cards({ collections }: { collections: readonly CollectionDetails[] }) {
  return (
    <ul className="cards">
      {collections.map((info) => (
        <li key={info.name}>
          <a className="card" href={formatRoute({ kind: "list", collection: info.name, query: "" })}>
            <span className="row">
              <b title={info.name}>{info.name}</b>
              <span className="grow" />
              {info.count !== undefined && <span className="soft">{listTexts.resources(info.count)}</span>}
            </span>
            <span className="soft">{holds(info)}</span>
            {info.operations.length < 5 && (
              <span className="soft">
                {listTexts.youCan(info.operations.map((each) => listTexts.operations[each]))}
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The first attributes of the schema. */
function holds(info: CollectionDetails): string {
  const names = Object.keys(propertiesOf(info)).filter((name) => name !== "id");
  if (names.length === 0) return listTexts.noSchema;
  return names.length > 6 ? `${names.slice(0, 6).join(", ")} …` : names.join(", ");
}
