/** One webhook: where it sends what, how it goes, and its deliveries when it is open. */
import { ActionIcon, Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconChevronRight,
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconTrash,
} from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Webhook, WebhookStatus, WebhookTest } from "holdfast-client";
import { useState } from "react";
import { messageOf } from "../parts/problem.tsx";
import { formatTime } from "../parts/time.ts";
import { client } from "../service/session.ts";
import { administrationTexts } from "../texts.ts";
import { Deliveries, Outcome } from "./deliveries.tsx";
import { type OpenWebhook, webhooksKey } from "./webhooks-page.tsx";

const own = administrationTexts.webhooks;

interface CardProps {
  webhook: Webhook;
  onOpen(open: OpenWebhook): void;
}

export function WebhookCard({ webhook, onOpen }: CardProps) {
  const { id, url, collections, description } = webhook;
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { data: status } = useQuery({
    queryKey: [...webhooksKey, id, "status"],
    queryFn: ({ signal }) => client.$webhooks.status(id, { signal }),
    refetchInterval: isOpen ? 5_000 : 15_000,
  });
  const test = useMutation({
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
  const queries = useQueryClient();
  const { mutate: turn } = useMutation({
    mutationFn: (enabled: boolean) => client.$webhooks.patch(webhook.id, { enabled }),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: webhooksKey }),
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={administrationTexts.actionsOf(webhook.url)}
        >
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={14} />} onClick={() => onOpen({ kind: "edit", webhook })}>
          {own.edit}
        </Menu.Item>
        <Menu.Item
          leftSection={webhook.enabled ? <IconPlayerPause size={14} /> : <IconPlayerPlay size={14} />}
          onClick={() => turn(!webhook.enabled)}
        >
          {webhook.enabled ? own.turnOff : own.turnOn}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconRefresh size={14} />}
          onClick={() => onOpen({ kind: "rotate", webhook })}
        >
          {own.rotate}
        </Menu.Item>
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={14} />}
          onClick={() => onOpen({ kind: "remove", webhook })}
        >
          {own.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
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
