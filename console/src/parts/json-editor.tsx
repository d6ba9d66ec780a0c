/** An editor for JSON. It is loaded when it is needed first. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { nonce } from "../service/session.ts";

interface JsonEditorProps {
  label: string;
  text: string;
  isReadOnly: boolean;
  /** The offset of an error. */
  wrongAt?: number | undefined;
  onChange(text: string): void;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--json-name)" },
  { tag: tags.string, color: "var(--json-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--json-value)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "12.5px", height: "100%", backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)", padding: "10px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--hover) 70%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "0", color: "var(--soft)" },
  ".cm-wrong": { backgroundColor: "var(--del)" },
});

const setWrong = StateEffect.define<number | undefined>();
const wrongLine = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setWrong)) continue;
      const { doc } = transaction.state;
      next =
        effect.value === undefined
          ? Decoration.none
          : Decoration.set(
              Decoration.line({ class: "cm-wrong" }).range(
                doc.lineAt(Math.min(effect.value, doc.length)).from,
              ),
            );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function extensions(label: string, isReadOnly: boolean, onChange: (text: string) => void): Extension {
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    json(),
    syntaxHighlighting(colours),
    look,
    wrongLine,
    EditorState.tabSize.of(2),
    EditorView.lineWrapping,
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": String(isReadOnly) }),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.doc.toString());
    }),
  ];
}

// biome-ignore lint/style/noDefaultExport: React.lazy needs it
export default function JsonEditor({ label, text, isReadOnly, wrongAt, onChange }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ text, onChange });
  latest.current = { text, onChange };
  useEffect(() => {
    const editor = new EditorView({
      parent: host.current as HTMLDivElement,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: extensions(label, isReadOnly, (next) => {
          if (next !== latest.current.text) latest.current.onChange(next);
        }),
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => view.current?.dispatch({ effects: setWrong.of(wrongAt) }), [wrongAt]);
  return <div className="json-editor" ref={host} />;
}
