/** A collection: its filters, its table, and the panel of the resource that is open. */
import { Button } from "@mantine/core";
import { useMediaQuery, useWindowEvent } from "@mantine/hooks";
import { IconPlus, IconUpload } from "@tabler/icons-react";
import { type CollectionDetails, ProblemError } from "holdfast-client";
import { lazy, useEffect, useMemo, useRef, useState } from "react";
import { Copied } from "../parts/copied.tsx";
import { SignInButton, useCanSignIn } from "../parts/head.tsx";
import { Empty, Loaded, Problem } from "../parts/problem.tsx";
import { go, type Route } from "../route.ts";
import { knownCollection, useCollection, useCollections } from "../service/collections.ts";
import { wrongParameters } from "../service/errors.ts";
import { remember } from "../service/queries.ts";
import { propertiesOf, titleNames } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { mostBulk } from "./bulk.ts";
import { ColumnMenu } from "./column-menu.tsx";
import { type Column, columnsOf, shownColumns, useChoice } from "./columns.ts";
import { FilterBar, SearchField, SearchOff } from "./filter-bar.tsx";
import { useDrop } from "./import-file.ts";
import { ListHead, type Open, SelectionBar } from "./list-head.tsx";
import { formatListQuery, isFiltered, type ListQuery, readListQuery, suggestedIndex } from "./list-query.ts";
import { usePages } from "./pages.ts";
import { selectionOf } from "./selections.ts";
import { Table } from "./table.tsx";
import "./list.css";

// The panel, with its editors, and the dialogs are loaded when they are opened first.
const ResourcePanel = lazy(async () => ({
  default: (await import("../resource/resource-panel.tsx")).ResourcePanel,
}));
const NewPanel = lazy(async () => ({ default: (await import("../resource/new-panel.tsx")).NewPanel }));
const ApiDialog = lazy(async () => ({ default: (await import("./api-dialog.tsx")).ApiDialog }));
const BulkDialog = lazy(async () => ({ default: (await import("./bulk-dialog.tsx")).BulkDialog }));
const DeletedDialog = lazy(async () => ({ default: (await import("./deleted-dialog.tsx")).DeletedDialog }));
const ExportDialog = lazy(async () => ({ default: (await import("./export-dialog.tsx")).ExportDialog }));
const ImportDialog = lazy(async () => ({ default: (await import("./import-dialog.tsx")).ImportDialog }));

type Shown = Extract<Route, { collection: string }>;

/** How far the table is scrolled when new rows no longer move it, in pixels. */
const top = 36;

export function ListPage({ route }: { route: Shown }) {
  const { collection, query: text } = route;
  const info = useCollection(collection);
  const isKnown = useCollections().data !== undefined;
  const query = useMemo(() => readListQuery(text), [text]);
  const request = formatListQuery(query);
  const scrolled = useRef(0);
  const isAtTop = useRef(() => scrolled.current < top).current;
  const pages = usePages(collection, request, isAtTop);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  /** The filters of which everything is selected, also what the page has not read. */
  const [whole, setWhole] = useState<{ filters: string; count: number }>();
  const [dialog, setDialog] = useState<Open>();
  const [file, setFile] = useState<File>();
  const columns = useColumns(info, pages.items);
  const known = useMemo(() => new Map(columns.map(({ name, kind }) => [name, kind])), [columns]);
  const { choice, choose } = useChoice(collection);
  const isNarrow = useMediaQuery("(max-width: 760px)", false, { getInitialValueInEffect: false });
  const shown = useMemo(() => shownColumns(columns, choice, isNarrow), [columns, choice, isNarrow]);
  const wrong = wrongParameters(pages.error);
  const isPart = isFiltered(query);
  const isWhole = !pages.isLoading && !pages.hasMore && pages.error === null;
  const found = pages.total ?? (isWhole ? pages.items.length : undefined);
  const total = isPart ? found : (info?.count ?? found);
  const all = isPart && info?.count !== undefined ? info.count : undefined;
  // Only administrators can import. They alone see rules.
  const canImport = info?.rules !== undefined;
  const isOver = useDrop(canImport && dialog === undefined, (dropped) => {
    setFile(dropped);
    setDialog("import");
  });
  const show = (next: ListQuery) => go({ ...route, query: formatListQuery(next) }, { replace: true });
  const openNew = () => go({ kind: "new", collection, query: text });
  const open = (id: string) => go({ kind: "resource", collection, query: text, id, tab: "fields" });
  const close = () => go({ kind: "list", collection, query: text });
  const openId = route.kind === "resource" ? route.id : undefined;
  useEffect(() => {
    if (openId !== undefined) remember(collection, openId);
  }, [collection, openId]);
  const everything = selectionOf(query, { info, infoOf: knownCollection });
  const filters = formatListQuery({ ...query, sort: [] });
  const isEverything = whole?.filters === filters && everything !== undefined;
  const loaded = useMemo(() => new Set(pages.items.map(({ id }) => String(id))), [pages.items]);
  const selected = isEverything ? loaded : picked;
  const count = isEverything ? whole.count : picked.size;
  const ids = useMemo(() => (isEverything ? undefined : [...picked]), [isEverything, picked]);
  const setSelected = (next: ReadonlySet<string>) => {
    setWhole(undefined);
    setPicked(next);
  };
  const clear = () => setSelected(new Set());
  const selectMatching = async () => {
    const count = everything === undefined ? 0 : (total ?? (await countMatching(collection, filters)));
    if (count > mostBulk) setWhole({ filters, count });
    else setSelected(await readMatching(collection, request));
  };
  // The key clears the selection, unless it belongs to something else. The panel takes its key first.
  useWindowEvent("keydown", ({ key, target, defaultPrevented }) => {
    const isInside =
      target instanceof Element && target.closest(".panel, [role=dialog], input, textarea") !== null;
    if (key === "Escape" && !defaultPrevented && !isInside && dialog === undefined) clear();
  });
  const dialogProps = {
    collection,
    onClose: () => {
      setDialog(undefined);
      setFile(undefined);
    },
  };
  return (
    <>
      <ListHead {...{ collection, info, total, canImport }} count={all} onOpen={setDialog} onNew={openNew} />
      <div className="filters">
        <SearchField
          names={info?.search ?? []}
          search={query.search}
          wrong={wrong.get("q")}
          onChange={(search) => show({ ...query, search })}
        />
        <FilterBar {...{ collection, columns, query, wrong }} onChange={show} />
        <span className="grow" />
        <SearchOff names={info?.search ?? []} search={query.search} />
        <ColumnMenu
          all={columns}
          shown={shown}
          sort={query.sort}
          onSort={(sort) => show({ ...query, sort })}
          onChange={(names) => choose(names === undefined ? {} : { ...choice, names })}
        />
      </div>
      {pages.error !== null ? (
        <ListError error={pages.error} query={query} onRetry={pages.refresh} />
      ) : (
        <Table
          {...{ choice, pages, selected }}
          columns={shown}
          sort={query.sort}
          open={openId}
          empty={
            <Nothing
              isPart={isPart}
              onClear={() => show({ ...query, conditions: [], search: "", filter: "" })}
              onNew={info?.operations.includes("create") === false ? undefined : openNew}
              onImport={canImport ? () => setDialog("import") : undefined}
            />
          }
          onScroll={(to) => {
            scrolled.current = to;
          }}
          onChoice={(next) => choose({ names: shown.map(({ name }) => name), ...next })}
          onSelect={setSelected}
          onSort={(sort) => show({ ...query, sort })}
          onOpen={open}
        />
      )}
      {count > 0 && route.kind === "list" && (
        <SelectionBar
          {...{ info, total, count, isEverything }}
          canSelectAll={everything !== undefined}
          canSelectMore={!isEverything && [...loaded].every((id) => picked.has(id)) && pages.hasMore}
          onSelectMatching={() => void selectMatching()}
          onChange={() => setDialog("change")}
          onExport={() => setDialog("export-selected")}
          onDelete={() => setDialog("delete")}
          onClear={clear}
        />
      )}
      {isOver && <div className="drop">{listTexts.drop(collection)}</div>}
      <Loaded>
        {dialog === "api" && (
          <ApiDialog
            {...dialogProps}
            query={request}
            id={openId}
            schema={info?.schema}
            first={route.kind === "new" ? "create" : openId === undefined ? "list" : "read"}
          />
        )}
        {dialog === "deleted" && <DeletedDialog {...dialogProps} {...{ info, columns, query }} />}
        {dialog === "import" && <ImportDialog {...dialogProps} file={file} onFile={setFile} />}
        {(dialog === "export" || dialog === "export-selected") && (
          <ExportDialog
            {...dialogProps}
            info={info}
            query={request}
            ids={dialog === "export" ? undefined : ids}
            shown={shown.map(({ name }) => name)}
          />
        )}
        {(dialog === "change" || dialog === "delete") && (
          <BulkDialog
            {...dialogProps}
            {...{ columns, ids, everything }}
            selected={count}
            kind={dialog}
            onLeaveOut={(left) => setSelected(new Set([...picked].filter((each) => each !== left)))}
            onDone={clear}
          />
        )}
      </Loaded>
      <Loaded>
        {route.kind === "resource" && (
          <ResourcePanel
            key={route.id}
            collection={collection}
            info={info}
            id={route.id}
            query={text}
            tab={route.tab}
            onTab={(tab) => go({ ...route, tab }, { replace: true })}
            onClose={close}
          />
        )}
        {route.kind === "new" && isKnown && (
          <NewPanel {...{ collection, info, known }} query={text} onClose={close} />
        )}
      </Loaded>
    </>
  );
}

/** The columns. Equal ones stay the same object, so that the rows are not made again with each page. */
function useColumns(info: CollectionDetails | undefined, items: readonly Resource[]): readonly Column[] {
  const kept = useRef<{ columns: readonly Column[]; key: string }>(undefined);
  return useMemo(() => {
    const columns = columnsOf(info, items, titleIn);
    const key = JSON.stringify(columns);
    if (kept.current?.key !== key) kept.current = { columns, key };
    return kept.current.columns;
  }, [info, items]);
}

/** The attribute that is the title in a collection whose schema has one. */
function titleIn(collection: string): string | undefined {
  const properties = propertiesOf(knownCollection(collection));
  return titleNames.find((name) => Object.hasOwn(properties, name));
}

interface NothingProps {
  isPart: boolean;
  onClear(): void;
  /** `undefined` if the caller cannot do it. */
  onNew: (() => void) | undefined;
  onImport: (() => void) | undefined;
}

function Nothing({ isPart, onClear, onNew, onImport }: NothingProps) {
  const canSignIn = useCanSignIn();
  if (isPart)
    return (
      <Empty title={texts.noMatches} hint={listTexts.noMatchesHint}>
        <Button variant="default" mt="xs" onClick={onClear}>
          {listTexts.clearAll}
        </Button>
      </Empty>
    );
  return (
    <Empty title={texts.emptyCollection} hint={listTexts.emptyHint(onNew !== undefined)}>
      {canSignIn && onNew === undefined && (
        <>
          <span>{listTexts.signInToCreate}</span>
          <SignInButton />
        </>
      )}
      <span className="ways">
        {onNew !== undefined && (
          <Button leftSection={<IconPlus size={15} />} onClick={onNew}>
            {texts.newResource}
          </Button>
        )}
        {onImport !== undefined && (
          <Button variant="default" leftSection={<IconUpload size={15} />} onClick={onImport}>
            {listTexts.importFile}
          </Button>
        )}
      </span>
    </Empty>
  );
}

function ListError({ error, query, onRetry }: { error: unknown; query: ListQuery; onRetry(): void }) {
  if (!(error instanceof ProblemError) || error.code !== "QUERY_TOO_EXPENSIVE")
    return <Problem error={error} onRetry={onRetry} />;
  const detail = error.problem.detail ?? "";
  const index = suggestedIndex(detail, query);
  return (
    <div className="card slow" role="alert">
      <b>{listTexts.slow}</b>
      <span>{index === undefined ? detail : `${firstSentence(detail)} ${listTexts.addIndex}`}</span>
      {index !== undefined && <Copied text={index} />}
      <span>
        <Button variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
      </span>
    </div>
  );
}

/** The first sentence says what is wrong. The advice after it is shown as text to copy. */
function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}

/** How many resources a list has; 0 if the service cannot count them. */
async function countMatching(collection: string, query: string): Promise<number> {
  const list = collectionClient(collection).list({ query, limit: 0, count: "exact" } as object);
  return list.page().then(
    ({ total = 0 }) => total,
    () => 0,
  );
}

/** The ids of the first resources of a list, as many as one change can have. */
async function readMatching(collection: string, query: string): Promise<ReadonlySet<string>> {
  const options = { query, limit: "max", fields: ["id"] };
  const ids = new Set<string>();
  const pages = collectionClient(collection)
    .list(options as object)
    .pages();
  for await (const { items } of pages) {
    for (const { id } of items as unknown as Resource[]) if (ids.size < mostBulk) ids.add(String(id));
    if (ids.size >= mostBulk) break;
  }
  return ids;
}
