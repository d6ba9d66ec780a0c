/** Imports a file: checks all of it first, and shows the bad lines before anything is written. */
import { Button, FileButton, Group, Progress, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { type ImportOptions, type ImportReport, importReportOf, ProblemError } from "holdfast-client";
import { useEffect, useState } from "react";
import { Bad, Busy, Dialog } from "../parts/dialog.tsx";
import { bytesText } from "../parts/formats.ts";
import { useCollection } from "../service/collections.ts";
import { messageOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { client, collectionClient } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { asTexts, CellFields, type CellReading, ColumnsFound, cellOptions } from "./import-columns.tsx";
import { formatOf, inDialog } from "./import-file.ts";

interface ImportDialogProps {
  collection: string;
  file: File | undefined;
  onFile(file: File): void;
  onClose(): void;
}

const accepted = ".csv,.tsv,.json,.ndjson,.jsonl,.geojson,text/csv,application/json,application/x-ndjson";

async function send(
  collection: string,
  file: File,
  options: { dryRun: boolean; on: string | null; reading: Reading; signal?: AbortSignal },
): Promise<ImportReport> {
  const { on, dryRun, reading, ...others } = options;
  const { type, ...found } = formatOf(file.name, await file.slice(0, 4_096).text());
  const { at, delimiter, id, ids, cells } = reading;
  const ofCsv = { ...found, ...(delimiter && { delimiter }), ...cellOptions(cells) };
  const format = type === "text/csv" ? ofCsv : at && { at };
  const read = { type, ...format, ...(id && { id }), ...(ids && { ids }) };
  const asked = { ...read, ...others, dryRun, ...(on !== null && { on }), skipInvalid: true };
  const begun = await collectionClient(collection).importTask(file, asked);
  const ended = await client.$tasks.finished(begun, { ...others, everyMs: 200 }).catch((error: unknown) => {
    if (others.signal?.aborted === true) void client.$tasks.cancel(begun.id).catch(() => {});
    throw error;
  });
  if (ended.state !== "done") throw new Error(listTexts.importStopped(ended));
  return importReportOf(begun, ended);
}

/** How the file is read. An empty text leaves it to the service. */
interface Reading {
  /** The place of the list in a JSON object. */
  at: string;
  /** The delimiter of CSV. */
  delimiter: string;
  /** The attribute or column that is the id. */
  id: string;
  /** What happens to ids that a collection cannot have. */
  ids: NonNullable<ImportOptions["ids"]> | "";
  /** What the cells of CSV are. */
  cells: CellReading;
}

/** What a check has found, and what it has checked. */
interface Checked {
  file: File;
  reading: Reading;
  on: string | null;
  report: ImportReport;
}

/** The report of a refused import, if it has one. */
function reportOf(error: unknown): ImportReport | undefined {
  const report = error instanceof ProblemError ? error.problem.report : undefined;
  return report?.errors === undefined ? undefined : (report as ImportReport);
}

const asFound: Reading = { at: "", delimiter: "", id: "", ids: "", cells: asTexts };

export function ImportDialog({ collection, file, onFile, onClose }: ImportDialogProps) {
  const [checked, setChecked] = useState<Checked>();
  const [problem, setProblem] = useState<string>();
  const [on, setOn] = useState<string | null>(null);
  const [typed, setReading] = useState(asFound);
  const [reading] = useDebouncedValue(typed, 300);
  // A report says nothing about options that were changed after its check.
  const isCurrent = checked?.file === file && checked?.reading === typed && checked.on === on;
  const report = isCurrent ? checked?.report : undefined;
  useEffect(() => {
    if (file === undefined) return;
    const stop = new AbortController();
    setChecked(undefined);
    setProblem(undefined);
    const show = (found: ImportReport) => setChecked({ file, reading, on, report: found });
    send(collection, file, { dryRun: true, on, reading, signal: stop.signal }).then(
      show,
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const refused = reportOf(error);
        if (refused !== undefined) show(refused);
        setProblem(messageOf(error));
      },
    );
    return () => stop.abort();
  }, [collection, file, on, reading]);
  const { mutate, isPending } = useAction({
    mutationFn: (checked: File) => send(collection, checked, { dryRun: false, on, reading }),
    onSuccess: (done) => {
      const { imported, invalid } = done;
      const message = on === null ? listTexts.imported(imported, invalid) : listTexts.merged(done);
      notifications.show({ message, color: "holdfast" });
      onClose();
    },
    onError: (error, of) => {
      const late = reportOf(error);
      if (late !== undefined) setChecked({ file: of, reading, on, report: late });
      setProblem(messageOf(error));
    },
  });
  const valid = report === undefined ? 0 : report.resources - report.invalid;
  return (
    <Dialog
      title={listTexts.importTitle(collection)}
      about={
        file === undefined ? (
          listTexts.importHint
        ) : (
          <>
            <b>{file.name}</b>, {bytesText(file.size)}.{" "}
            {isPending ? listTexts.writing : listTexts.nothingWritten}
          </>
        )
      }
      onClose={onClose}
      closing={texts.cancel}
      isApart
      actions={
        <>
          {file !== undefined && report !== undefined && valid > 0 && report.complete && (
            <Button size="sm" loading={isPending} onClick={() => mutate(file)}>
              {listTexts.doImport(valid, report.invalid > 0)}
            </Button>
          )}
          {file !== undefined && <Choose label={listTexts.chooseAnother} onFile={onFile} />}
        </>
      }
    >
      <div className="sheet">
        <SameValues collection={collection} value={on} onChange={setOn} />
        {file === undefined && (
          <div className="drop-here">
            <span>{listTexts.dropHere}</span>
            <Choose label={listTexts.chooseFile} onFile={onFile} />
            <span className="soft">{listTexts.csvCells}</span>
          </div>
        )}
        {file !== undefined && report === undefined && problem === undefined && (
          <Busy>{listTexts.checking}</Busy>
        )}
        {problem !== undefined && <Bad text={inDialog(problem)} />}
        {file !== undefined && <ReadingFields file={file} value={typed} onChange={setReading} />}
        {report !== undefined && <Summary report={report} valid={valid} />}
      </div>
      {report !== undefined && report.errors.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls
        <div className="bad-lines" tabIndex={0}>
          {report.errors.map(({ line, element, pointer, detail, value }, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line can have several errors
            <div key={n}>
              <span className="id">{listTexts.line(line, element)}</span>
              <b>{pointer?.replace(/^#\//, "").replaceAll("/", ".")}</b>
              <span>
                {inDialog(detail)}
                {value !== undefined && <code>{value}</code>}
              </span>
            </div>
          ))}
        </div>
      )}
      {report?.columns !== undefined && <ColumnsFound columns={report.columns} />}
    </Dialog>
  );
}

interface ReadingFieldsProps {
  file: File;
  value: Reading;
  onChange(next: Reading): void;
}

/** Asks how the file is read: what a program cannot know for sure. */
function ReadingFields({ file, value, onChange }: ReadingFieldsProps) {
  const isCsv = /\.[ct]sv$/i.test(file.name);
  const set = (part: Partial<Reading>) => onChange({ ...value, ...part });
  return (
    <Group gap="sm" align="end">
      {isCsv ? (
        <Select
          size="xs"
          w={150}
          label={listTexts.delimiter}
          placeholder={listTexts.byItself}
          data={listTexts.delimiters}
          value={value.delimiter || null}
          onChange={(next) => set({ delimiter: next ?? "" })}
          clearable
        />
      ) : (
        <TextInput
          size="xs"
          w={150}
          label={listTexts.placeOfList}
          placeholder={listTexts.wholeFile}
          value={value.at}
          onChange={({ currentTarget }) => set({ at: currentTarget.value.trim() })}
        />
      )}
      <TextInput
        size="xs"
        w={120}
        label={listTexts.idMember}
        placeholder="id"
        value={value.id}
        onChange={({ currentTarget }) => set({ id: currentTarget.value.trim() })}
      />
      <Select
        size="xs"
        w={240}
        label={listTexts.unfitIds}
        placeholder={listTexts.refuseIds}
        data={listTexts.newIdsFor}
        value={value.ids || null}
        onChange={(next) => set({ ids: (next ?? "") as Reading["ids"] })}
        clearable
      />
      {isCsv && (
        <CellFields value={value.cells} onChange={(part) => set({ cells: { ...value.cells, ...part } })} />
      )}
    </Group>
  );
}

interface SameValuesProps {
  collection: string;
  /** The attributes of a unique key, with commas between them; `null` if all resources are new. */
  value: string | null;
  onChange(next: string | null): void;
}

/** Asks by which unique key the file changes resources. Appears only if the collection has one. */
function SameValues({ collection, value, onChange }: SameValuesProps) {
  const { unique = [] } = useCollection(collection) ?? {};
  const keys = unique
    .filter(({ where }) => where === undefined)
    .map(({ attribute, attributes = [attribute] }) => attributes);
  if (keys.length === 0) return null;
  return (
    <Select
      size="xs"
      w={320}
      label={listTexts.sameValues}
      description={listTexts.sameValuesHint}
      placeholder={listTexts.allNew}
      data={keys.map((names) => ({ value: names.join(), label: names.join(", ") }))}
      value={value}
      onChange={onChange}
      clearable
    />
  );
}

function Summary({ report, valid }: { report: ImportReport; valid: number }) {
  const { invalid, resources, generatedIds, replacedIds, errors, complete } = report;
  const { made = 0, changed, same = 0 } = report;
  const newIds = generatedIds.count + replacedIds.count;
  const share = resources === 0 ? 0 : (valid / resources) * 100;
  return (
    <>
      <Progress.Root size={10} aria-hidden="true">
        <Progress.Section value={share} color="holdfast" aria-label={listTexts.valid(valid)} />
        <Progress.Section
          value={resources === 0 ? 0 : 100 - share}
          color="red"
          aria-label={listTexts.invalid(invalid)}
        />
      </Progress.Root>
      <div className="figures">
        <span>
          <b>{valid.toLocaleString("en")}</b> {listTexts.valid(valid)}
        </span>
        {invalid > 0 && (
          <span className="bad">
            <b>{invalid.toLocaleString("en")}</b> {listTexts.invalid(invalid)}
          </span>
        )}
        {changed !== undefined && <span>{listTexts.wouldMerge({ made, changed, same })}</span>}
        {newIds > 0 && <span className="soft">{listTexts.newIds(newIds)}</span>}
        {!complete && <span className="bad">{listTexts.incomplete}</span>}
        {errors.length < invalid && (
          <span className="soft">{listTexts.moreErrors(invalid - errors.length)}</span>
        )}
      </div>
    </>
  );
}

function Choose({ label, onFile }: { label: string; onFile(file: File): void }) {
  return (
    <FileButton accept={accepted} onChange={(file) => file !== null && onFile(file)}>
      {(props) => (
        <Button size="sm" variant="default" {...props}>
          {label}
        </Button>
      )}
    </FileButton>
  );
}
