/** The effective configuration: each option, its value, and where the value comes from. */
import { Switch, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { ServiceConfiguration } from "holdfast-client";
import { useState } from "react";
import { Head } from "../parts/head.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { useConfiguration } from "../service/administrator.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { Waiting } from "./frame.tsx";
import { optionsThatMatch, shownValue } from "./values.ts";

const own = administrationTexts.configuration;
const tones = { default: "", file: "tone3", application: "tone3", environment: "tone2", flag: "tone4" };

export function ConfigurationPage() {
  const { data, error, refetch } = useConfiguration();
  const [text, setText] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  const found = data === undefined ? [] : optionsThatMatch(data.options, { text, onlySet });
  return (
    <>
      <Head title={listTexts.pageNames.configuration} count={data?.options.length} />
      <div className="admin-bar">
        <TextInput
          size="xs"
          type="search"
          className="admin-search"
          leftSection={<IconSearch size={14} />}
          placeholder={own.searchLabel}
          aria-label={own.searchLabel}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Switch
          size="xs"
          label={own.onlyChanged}
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
        <span className="grow" />
        {data !== undefined && (
          <span className="soft file">{data.file === null ? own.noFile : own.file(data.file)}</span>
        )}
      </div>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data !== undefined && found.length === 0 && <Empty title={administrationTexts.nothingFound} />}
      {found.length > 0 && <Options options={found} />}
    </>
  );
}

function Options({ options }: { options: ServiceConfiguration["options"] }) {
  return (
    <div className="scroll">
      <table className="grid plain options-table">
        <thead>
          <tr>
            <th>{own.option}</th>
            <th>{own.value}</th>
            <th>{own.source}</th>
          </tr>
        </thead>
        <tbody>
          {options.map(({ name, value, source, from }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td className="wrap">
                {value === null ? (
                  <span className="none">{own.notSet}</span>
                ) : (
                  <code>{shownValue(value)}</code>
                )}
              </td>
              <td className="wrap">
                <span className={`tag ${tones[source]}`}>{own.sources[source]}</span>
                {from !== undefined && <code className="soft">{from}</code>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
