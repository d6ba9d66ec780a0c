/** The request for what is on the screen, to copy. */
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { Copied } from "../parts/copied.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { baseUrl, useSession } from "../service/session.ts";
import { listTexts } from "../texts.ts";
import { type Asked, exampleOf, type Language, requestText } from "./api-texts.ts";

interface ApiDialogProps {
  collection: string;
  schema: unknown;
  query: string;
  id: string | undefined;
  first: Asked;
  onClose(): void;
}

const languages: readonly Language[] = ["curl", "fetch", "holdfast-client"];

export function ApiDialog({ collection, schema, query, id, first, onClose }: ApiDialogProps) {
  const [what, setWhat] = useState<Asked>(first);
  const [language, setLanguage] = useState<Language>("curl");
  const { hasCredential } = useSession();
  const asked: readonly Asked[] =
    id === undefined ? ["list", "create"] : ["list", "read", "create", "change"];
  const text = requestText(language, {
    what,
    baseUrl,
    collection,
    query,
    id,
    hasCredential,
    example: exampleOf(schema),
  });
  return (
    <Dialog title={listTexts.apiTitle} onClose={onClose}>
      <div className="sheet">
        <div className="figures">
          <SegmentedControl
            size="xs"
            data={asked.map((each) => ({ value: each, label: listTexts.asked[each] }))}
            value={what}
            onChange={(next) => setWhat(next as Asked)}
          />
          <span className="grow" />
          <SegmentedControl
            size="xs"
            data={[...languages]}
            value={language}
            onChange={(next) => setLanguage(next as Language)}
          />
        </div>
        <Copied text={text} />
        <a className="ref" href="docs" target="_blank" rel="noreferrer">
          {listTexts.apiDocs}
        </a>
      </div>
    </Dialog>
  );
}
