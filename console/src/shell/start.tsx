/** The first page: the collections, and how to begin where there are none. */
import { Button, JsonInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { shellWord } from "../list/api-texts.ts";
import { Copied } from "../parts/copied.tsx";
import { messageOf, Problem } from "../parts/problem.tsx";
import { HeadSignIn } from "../parts/sign-in-button.tsx";
import { formatRoute, go } from "../route.ts";
import { useIsAdministrator } from "../service/administrator.ts";
import { type CollectionDetails, collectionsKey, useCollections } from "../service/collections.ts";
import { propertiesOf } from "../service/schema.ts";
import { askForCredential, baseUrl, collectionClient } from "../service/session.ts";
import { listTexts, signInTexts, texts } from "../texts.ts";
import { MenuButton } from "./drawer.tsx";

export function Start() {
  const { data: collections, error, refetch } = useCollections();
  const isAdministrator = useIsAdministrator();
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (collections === undefined) return null;
  const isEmpty = collections.length > 0 && collections.every(({ count }) => count === 0);
  const canCreate = collections.some(({ operations }) => operations.includes("create"));
  return (
    <div className="start">
      <header className="start-head">
        <MenuButton />
        <h1>{texts.collections}</h1>
        <span className="grow" />
        <HeadSignIn />
      </header>
      {collections.length > 0 && <Cards collections={collections} />}
      {collections.length === 0 && isAdministrator === true && <First />}
      {collections.length === 0 && isAdministrator === false && <NothingToSee />}
      {isEmpty && (
        <p className="soft">{listTexts.emptyDeclared({ canCreate, canImport: isAdministrator === true })}</p>
      )}
    </div>
  );
}

function NothingToSee() {
  return (
    <div className="empty">
      <b>{signInTexts.nothingToSee}</b>
      {signInTexts.nothingToSeeHint}
      <div className="ways">
        <Button size="xs" onClick={askForCredential}>
          {texts.signIn}
        </Button>
      </div>
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

const example = '{"title":"Hello"}';

/** Creates the first resource, and with it its collection. */
function First() {
  const queries = useQueryClient();
  const [name, setName] = useState("topics");
  const [text, setText] = useState(example);
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      setProblem(undefined);
      const body: unknown = JSON.parse(text);
      if (typeof body !== "object" || body === null || Array.isArray(body))
        throw new Error(listTexts.notAnObject);
      await collectionClient(name).create(body as never);
      await queries.invalidateQueries({ queryKey: collectionsKey });
      go({ kind: "list", collection: name, query: "" });
    } catch (error) {
      setProblem(error instanceof SyntaxError ? listTexts.notAnObject : messageOf(error));
    }
  };
  return (
    <div className="hero">
      <p>{listTexts.firstHint}</p>
      <form className="card" onSubmit={(event) => void submit(event)}>
        <b>{listTexts.firstTitle}</b>
        <TextInput
          size="sm"
          label={listTexts.collectionName}
          value={name}
          required
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
        <JsonInput
          size="sm"
          label={listTexts.firstBody}
          autosize
          minRows={4}
          maxRows={16}
          value={text}
          onChange={setText}
          error={problem}
        />
        <span>
          <Button type="submit" size="sm" disabled={name === ""}>
            {texts.create}
          </Button>
        </span>
      </form>
      <p>{listTexts.orCurl}</p>
      <Copied
        text={`curl -i ${shellWord(`${baseUrl}/${encodeURIComponent(name)}`)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellWord(text)}`}
      />
    </div>
  );
}
