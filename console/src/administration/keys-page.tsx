/** The API keys of the service. */
import { ActionIcon, Button, Menu, SegmentedControl } from "@mantine/core";
import { IconDots, IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ApiKey, NotFoundError } from "holdfast-client";
import { useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { formatTime } from "../parts/time.ts";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { Empty, Head, TurnOn, Waiting } from "./frame.tsx";
import { NewKeyDialog, RevokeDialog, RotateDialog } from "./key-dialogs.tsx";
import { isThisHour, keysInOrder, stateOf } from "./key-values.ts";

const own = administrationTexts.keys;
const configuration = 'auth: { keys: true, administrators: { role: "ops" } }';
const tones = { valid: "green", revoked: "red", expired: "" };

/** The key of the query of the API keys. */
export const keysKey = ["keys"];

type Open = { kind: "new" } | { kind: "rotate" | "revoke"; key: ApiKey };

export function KeysPage() {
  const { data, error, refetch } = useQuery({
    queryKey: keysKey,
    queryFn: ({ signal }) => client.$keys.list({ signal }),
  });
  const [open, setOpen] = useState<Open>();
  const [which, setWhich] = useState<"valid" | "all">("valid");
  const isOff = error instanceof NotFoundError;
  const keys = keysInOrder(data ?? []).filter(({ valid }) => which === "all" || valid);
  const close = () => setOpen(undefined);
  return (
    <>
      <Head title={listTexts.pageNames.keys} count={data?.filter(({ valid }) => valid).length}>
        {data !== undefined && (
          <Button size="xs" leftSection={<IconPlus size={15} />} onClick={() => setOpen({ kind: "new" })}>
            {own.create}
          </Button>
        )}
      </Head>
      {isOff && <TurnOn title={own.off} hint={own.offHint} text={configuration} />}
      {error !== null && !isOff && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data !== undefined && data.length > 0 && (
        <div className="admin-bar">
          <SegmentedControl
            size="xs"
            aria-label={own.shown}
            data={[
              { value: "valid", label: own.valid },
              { value: "all", label: own.all },
            ]}
            value={which}
            onChange={(next) => setWhich(next as typeof which)}
          />
        </div>
      )}
      {data?.length === 0 && <Empty title={own.none} hint={own.noneHint} />}
      {data !== undefined && data.length > 0 && keys.length === 0 && <Empty title={own.noneValid} />}
      {keys.length > 0 && <Keys keys={keys} onOpen={setOpen} />}
      {open?.kind === "new" && <NewKeyDialog onClose={close} />}
      {open?.kind === "rotate" && <RotateDialog apiKey={open.key} onClose={close} />}
      {open?.kind === "revoke" && <RevokeDialog apiKey={open.key} onClose={close} />}
    </>
  );
}

function Keys({ keys, onOpen }: { keys: readonly ApiKey[]; onOpen(open: Open): void }) {
  const { columns } = own;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls
    <section className="scroll wide" aria-label={listTexts.pageNames.keys} tabIndex={0}>
      <table className="grid plain">
        <thead>
          <tr>
            {Object.values(columns).map((name) => (
              <th key={name}>{name}</th>
            ))}
            <th>
              <span className="sr-only">{listTexts.menu}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row key={key.prefix} apiKey={key} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ apiKey, onOpen }: { apiKey: ApiKey; onOpen(open: Open): void }) {
  const { prefix, name, subject, roles, scopes, createdAt, lastUsedAt, expiresAt } = apiKey;
  const state = stateOf(apiKey);
  return (
    <tr>
      <td className="strong" title={name}>
        {name} {state !== "valid" && <span className={`tag ${tones[state]}`}>{own.states[state]}</span>}
      </td>
      <td className="id">{prefix}…</td>
      <td title={subject}>{subject}</td>
      <td title={roles.join(", ")}>
        {roles.length === 0 && <span className="none">—</span>}
        {roles.map((role) => (
          <span key={role} className="tag">
            {role}
          </span>
        ))}
      </td>
      <td title={scopes?.join(", ")}>{scopes?.join(", ") ?? <span className="none">{own.noLimit}</span>}</td>
      <Time text={createdAt} />
      {lastUsedAt !== null && isThisHour(lastUsedAt, Date.now()) ? (
        <td className="quiet">{own.thisHour}</td>
      ) : (
        <Time text={lastUsedAt} />
      )}
      <Time text={expiresAt} />
      <td className="end">
        {state === "valid" && (
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={administrationTexts.actionsOf(name)}
              >
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconRefresh size={14} />}
                onClick={() => onOpen({ kind: "rotate", key: apiKey })}
              >
                {own.rotate}
              </Menu.Item>
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={14} />}
                onClick={() => onOpen({ kind: "revoke", key: apiKey })}
              >
                {own.revoke}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </td>
    </tr>
  );
}

function Time({ text }: { text: string | null }) {
  if (text === null)
    return (
      <td>
        <span className="none">{own.never}</span>
      </td>
    );
  return (
    <td className="quiet">
      <time dateTime={text} title={text}>
        {formatTime(text)}
      </time>
    </td>
  );
}
