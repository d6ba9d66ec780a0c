/** The audit: what people and administrators did with accounts, and what was refused. */
import { Select } from "@mantine/core";
import { useState } from "react";
import { Head } from "../parts/head.tsx";
import { Empty } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { formatRoute } from "../route.ts";
import { client, usersName } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { List, usePages } from "./frame.tsx";

const own = administrationTexts.audit;

interface Entry {
  id: string;
  time: string;
  kind: string;
  result: "done" | "failed" | "refused";
  subject?: string;
  actor?: string;
  method?: string;
  policy?: string;
  item?: string;
  email?: string;
  network?: string;
  before?: object;
  after?: object;
  count?: number;
}

export function AuditPage() {
  const [kind, setKind] = useState<string | null>(null);
  const query = usePages(["audit", kind ?? ""], async ({ after, signal }) => {
    const parameters = new URLSearchParams({ ...(kind !== null && { kind }), ...(after && { after }) });
    const page = (await client.$read(`/_audit?${parameters}`, { signal })) as {
      entries: readonly Entry[];
      next?: string;
    };
    const next = page.next && new URLSearchParams(page.next.split("?")[1]).get("after");
    return { items: page.entries, after: next || undefined };
  });
  const empty = <Empty title={own.none} hint={own.noneHint} />;
  return (
    <>
      <Head title={listTexts.pageNames.audit} />
      <div className="admin-bar">
        <Select
          size="xs"
          aria-label={own.kind}
          placeholder={own.allKinds}
          data={Object.entries(own.kinds).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={setKind}
          clearable
        />
      </div>
      <List
        query={query}
        label={listTexts.pageNames.audit}
        columns={Object.values(own.columns)}
        empty={empty}
        hasMenu={false}
      >
        {query.items?.map((entry) => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </List>
    </>
  );
}

function EntryRow({ entry }: { entry: Entry }) {
  const { time, kind, result, subject, email, actor, network, count = 1 } = entry;
  const profile = { kind: "resource", collection: usersName, query: "", id: subject, tab: "fields" } as const;
  return (
    <tr>
      <td className="quiet">
        <Time text={time} />
      </td>
      <td className="strong">
        {own.kinds[kind as keyof typeof own.kinds] ?? kind}{" "}
        {result !== "done" && <span className="tag red">{own.results[result]}</span>}{" "}
        {count > 1 && <span className="tag">{own.times(count)}</span>}
      </td>
      <td className="id">
        {subject === undefined ? (
          <span className="none">—</span>
        ) : (
          <a className="ref" href={formatRoute({ ...profile, id: subject })}>
            {email ?? subject}
          </a>
        )}
      </td>
      <td>{actor ?? <span className="none">—</span>}</td>
      <td className="wrap">{detailOf(entry)}</td>
      <td className="quiet">{network ?? <span className="none">—</span>}</td>
    </tr>
  );
}

/** What else an entry says. */
function detailOf({ method, policy, item, before, after }: Entry): string {
  const change = before && `${JSON.stringify(before)} → ${JSON.stringify(after ?? null)}`;
  return [method, policy, item, change].filter((each) => each !== undefined).join(" · ");
}
