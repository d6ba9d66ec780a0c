/** The webhooks of the service. */
import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Webhook } from "holdfast-client";
import { useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { Empty, Head, Waiting } from "./frame.tsx";
import { WebhookCard } from "./webhook-card.tsx";
import { WebhookDialog } from "./webhook-dialog.tsx";
import { RemoveDialog, RotateSecretDialog } from "./webhook-dialogs.tsx";

const own = administrationTexts.webhooks;

/** The key of the query of all webhooks, and of what belongs to one. */
export const webhooksKey = ["webhooks"];

export type OpenWebhook = { kind: "new" } | { kind: "edit" | "rotate" | "remove"; webhook: Webhook };

export function WebhooksPage() {
  const { data, error, refetch } = useQuery({
    queryKey: webhooksKey,
    queryFn: async ({ signal }) => await client.$webhooks.list({ limit: 100, signal }).all(),
    refetchInterval: 15_000,
  });
  const [open, setOpen] = useState<OpenWebhook>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Head title={listTexts.pageNames.webhooks} count={data?.length}>
        {data !== undefined && (
          <Button size="xs" leftSection={<IconPlus size={15} />} onClick={() => setOpen({ kind: "new" })}>
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
