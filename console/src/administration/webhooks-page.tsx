/** The webhooks of the service, how each goes, and its deliveries when it is open. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconChevronRight,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconRefresh,
  IconTrash,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Webhook, WebhookDelivery, WebhookStatus, WebhookTest } from "holdfast-client";
import { useState } from "react";
import { formatTime } from "../parts/formats.ts";
import { Head } from "../parts/head.tsx";
import { Dots, Item } from "../parts/menu.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { messageOf } from "../service/errors.ts";
import { queries, useAction } from "../service/queries.ts";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { DeliveryRow, DeliveryTable } from "./deliveries.tsx";
import { Waiting } from "./frame.tsx";
import { RemoveDialog, RotateSecretDialog, WebhookDialog, webhooksKey } from "./webhook-dialog.tsx";

const own = administrationTexts.webhooks;

type OpenWebhook = { kind: "new" } | { kind: "edit" | "rotate" | "remove"; webhook: Webhook };

export function WebhooksPage() {
  const { data, error, refetch } = useQuery({
    queryKey: webhooksKey,
    queryFn: async ({ signal }) => await client.$webhooks.list({ signal }).all(),
    refetchInterval: 15_000,
  });
  const [open, setOpen] = useState<OpenWebhook>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Head title={listTexts.pageNames.webhooks} count={data?.length}>
        {data !== undefined && (
          <Button leftSection={<IconPlus size={15} />} onClick={() => setOpen({ kind: "new" })}>
            {own.create}
          </Button>
        )}
      </Head>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.length === 0 && <Empty title={own.none} hint={own.noneHint} />}
      <ul className="webhooks">
        {data?.map((webhook) => (
          <WebhookCard key={webhook.id} webhook={webhook} onOpen={setOpen} />
        ))}
      </ul>
      {open?.kind === "new" && <WebhookDialog onClose={close} />}
      {open?.kind === "edit" && <WebhookDialog webhook={open.webhook} onClose={close} />}
      {open?.kind === "rotate" && <RotateSecretDialog webhook={open.webhook} onClose={close} />}
      {open?.kind === "remove" && <RemoveDialog webhook={open.webhook} onClose={close} />}
    </>
  );
}

interface CardProps {
  webhook: Webhook;
  onOpen(open: OpenWebhook): void;
}

function WebhookCard({ webhook, onOpen }: CardProps) {
  const { id, url, collections, description } = webhook;
  const [isOpen, setOpen] = useState(false);
  const { data: status } = useQuery({
    queryKey: [...webhooksKey, id, "status"],
    queryFn: ({ signal }) => client.$webhooks.status(id, { signal }),
    refetchInterval: isOpen ? 5_000 : 15_000,
  });
  const test = useAction({
    mutationFn: () => client.$webhooks.test(id),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: [...webhooksKey, id] }),
  });
  const names = collections.includes("*") ? own.every : collections.join(", ");
  const { tone, label } = stateOf(status);
  return (
    <li className="card webhook">
      <div className="webhook-head">
        <button
          type="button"
          className="webhook-open"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconChevronRight size={15} className="turn" aria-hidden="true" />
          <span className="webhook-name">
            <b>{url}</b>
            <span className="soft">
              {[description, names, status && summaryOf(status)].filter(Boolean).join(" · ")}
            </span>
          </span>
        </button>
        <span className="webhook-actions">
          <span className={`tag ${tone}`}>{label}</span>
          <Button size="compact-xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            {own.test}
          </Button>
          <Actions webhook={webhook} onOpen={onOpen} />
        </span>
      </div>
      {status?.reason !== undefined && <p className="webhook-note wrong">{status.reason}</p>}
      {test.data !== undefined && <TestResult result={test.data} />}
      {isOpen && <Deliveries webhook={webhook} />}
    </li>
  );
}

function Actions({ webhook, onOpen }: CardProps) {
  const { mutate: turn } = useAction({
    mutationFn: (enabled: boolean) => client.$webhooks.patch(webhook.id, { enabled }),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: webhooksKey }),
  });
  return (
    <Dots label={administrationTexts.actionsOf(webhook.url)}>
      <Item text={own.edit} Icon={IconPencil} onClick={() => onOpen({ kind: "edit", webhook })} />
      <Item
        text={webhook.enabled ? own.turnOff : own.turnOn}
        Icon={webhook.enabled ? IconPlayerPause : IconPlayerPlay}
        onClick={() => turn(!webhook.enabled)}
      />
      <Item text={own.rotate} Icon={IconRefresh} onClick={() => onOpen({ kind: "rotate", webhook })} />
      <Item
        text={own.remove}
        Icon={IconTrash}
        isDangerous
        onClick={() => onOpen({ kind: "remove", webhook })}
      />
    </Dots>
  );
}

function TestResult({ result }: { result: WebhookTest }) {
  return (
    <output className="webhook-note">
      <p className={result.delivered ? undefined : "wrong"}>
        {result.delivered ? own.testOk(result.milliseconds) : own.testFailed(result.status)}
      </p>
      <Outcome attempt={result} />
    </output>
  );
}

function stateOf(status: WebhookStatus | undefined): { tone: string; label: string } {
  if (status === undefined) return { tone: "", label: own.states.loading };
  if (status.state === "disabled") return { tone: "", label: own.states.disabled };
  if (status.state === "failing") return { tone: "red", label: own.states.failing };
  if (status.retrying > 0) return { tone: "amber", label: own.states.retrying };
  return { tone: "green", label: own.states.active };
}

function summaryOf({ waiting, retrying, lost, lastSuccess }: WebhookStatus): string {
  return [
    ...(waiting > 0 ? [own.waiting(waiting)] : []),
    ...(retrying > 0 ? [own.retrying(retrying)] : []),
    ...(lost > 0 ? [own.lost(lost)] : []),
    lastSuccess === null ? own.nothingYet : own.delivered(formatTime(lastSuccess)),
  ].join(", ");
}

export function Deliveries({ webhook: { id, url } }: { webhook: Webhook }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...webhooksKey, id, "deliveries"],
    queryFn: ({ signal }) => client.$webhooks.deliveries(id, { limit: 100, signal }),
    refetchInterval: 5_000,
  });
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p className="webhook-note soft">{own.noDeliveries}</p>;
  return (
    <DeliveryTable label={own.deliveries(url)} first={own.response}>
      {data.map((delivery) => (
        <Delivery key={delivery.event} webhookId={id} delivery={delivery} />
      ))}
    </DeliveryTable>
  );
}

function Delivery({ webhookId, delivery }: { webhookId: string; delivery: WebhookDelivery }) {
  const { event, state, status, next } = delivery;
  return (
    <DeliveryRow
      delivery={delivery}
      tag={status ?? own.noAnswer}
      actions={state !== "delivered" && <SendAgain id={webhookId} event={event} />}
    >
      {next !== null && <p>{administrationTexts.deliveries.next(formatTime(next))}</p>}
      {state === "dead" && <p>{own.dead}</p>}
      <Outcome attempt={delivery} />
    </DeliveryRow>
  );
}

function SendAgain({ id, event }: { id: string; event: string }) {
  const { mutate, isPending } = useAction({
    mutationFn: () => client.$webhooks.retry(id, event),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: [...webhooksKey, id] }),
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconRefresh size={12} />}
      loading={isPending}
      onClick={() => mutate()}
    >
      {own.sendAgain}
    </Button>
  );
}

/** What came back: the body of the response, or why no response came. */
export function Outcome({ attempt }: { attempt: WebhookDelivery | WebhookTest }) {
  const { status, response, error } = attempt;
  return (
    <>
      {error !== null && <p>{error}</p>}
      {response !== "" && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls
        <pre className="code" tabIndex={0}>
          {response}
        </pre>
      )}
      {response === "" && error === null && status !== null && <p className="soft">{own.noBody}</p>}
    </>
  );
}
