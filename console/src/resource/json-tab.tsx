/** The draft as JSON text. */
import { Loader } from "@mantine/core";
import { lazy, useMemo, useState } from "react";
import { Loaded } from "../parts/problem.tsx";
import { texts } from "../texts.ts";
import { type Attributes, type Edit, isEqual, setJson, withValue } from "./edit.ts";
import { readJsonObject } from "./json-text.ts";

const JsonEditor = lazy(() => import("../parts/json-editor.tsx"));

interface JsonTabProps {
  edit: Edit;
  isReadOnly: boolean;
  onEdit(change: (edit: Edit) => Edit): void;
}

export function JsonTab({ edit, isReadOnly, onEdit }: JsonTabProps) {
  // The text as the user wrote it, as long as it means the same.
  const [written, setWritten] = useState(() => format(edit));
  const read = useMemo(() => readJsonObject(written), [written]);
  const isSame = read.problem === undefined && isEqual(read.value, edit.mine);
  const text = edit.json ?? (isSame ? written : format(edit));
  const isBroken = edit.json !== undefined || edit.invalid.size > 0;
  const problem = useMemo(() => (isBroken ? readJsonObject(text).problem : undefined), [isBroken, text]);
  return (
    <div className="json-tab">
      <Loaded waiting={<Loader size="sm" m="md" />}>
        <JsonEditor
          label={texts.resource.json}
          text={text}
          isReadOnly={isReadOnly}
          wrongAt={problem?.at}
          onChange={(next) => {
            setWritten(next);
            onEdit((before) => setJson(before, next));
          }}
        />
      </Loaded>
      {problem !== undefined && (
        <p className="wrong" role="alert">
          {texts.resource.lineProblem(problem.line, problem.message)}
        </p>
      )}
    </div>
  );
}

/** The draft as text. A text that is no value is in it as the user wrote it. */
function format({ mine, json, invalid }: Edit): string {
  if (json !== undefined) return json;
  const texts = [...invalid].map(([name, text]) => ({ name, text, mark: `mark ${Math.random()}` }));
  const marked = texts.reduce<Attributes>((all, { name, mark }) => withValue(all, name, mark), mine);
  return texts.reduce(
    (all, { text, mark }) => all.replace(`"${mark}"`, () => text),
    JSON.stringify(marked, null, 2),
  );
}
