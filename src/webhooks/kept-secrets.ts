/** How the store keeps the secrets of webhooks: encrypted, if the service was given a secret of its own. */
import { isOvertaken, put } from "../records.ts";
import type { Vault } from "../secrets.ts";
import type { Change } from "../store/port/commit.ts";
import { isEncrypted, webhooksName } from "./webhook.ts";
import { putState, type WebhookRecords } from "./webhook-records.ts";

const purpose = "webhook";

/** The secrets of webhooks, as the store keeps them. */
export class KeptSecrets {
  readonly #vault: () => Vault | undefined;

  /** Without a vault, the store keeps the secrets themselves. */
  constructor(vault: () => Vault | undefined) {
    this.#vault = vault;
  }

  /** What the store keeps of a secret of a webhook. The store can have kept it before. */
  keep(webhook: string, secret: string): string {
    const vault = this.#vault();
    if (vault === undefined || vault.isCurrent(secret)) return secret;
    return vault.seal(purpose, placeOf(webhook), this.read(webhook, secret));
  }

  /** A secret as it signs. Throws an Error if no secret of the service opens it, or if it was changed. */
  read(webhook: string, kept: string): string {
    if (!isEncrypted(kept)) return kept;
    const vault = this.#vault();
    if (vault === undefined) throw new Error(`The service has no secret that opens ${placeOf(webhook)}.`);
    return vault.open(purpose, placeOf(webhook), kept);
  }

  /**
   * Encrypts what the store keeps readable, or with an old secret of the service. Throws StartError if another secret has encrypted
   * one of them.
   */
  async encryptAll(records: WebhookRecords, now: () => number): Promise<void> {
    for (const { id } of (await records.all()).map(({ value }) => value))
      while (!(await this.#encrypt(records, id, now()))) {} // again, because another instance was faster
  }

  async #encrypt(records: WebhookRecords, id: string, at: number): Promise<boolean> {
    const state = await records.state(id);
    const webhook = await records.webhook(id);
    if (webhook === undefined) return true;
    const { oldSecret } = state?.value ?? {};
    for (const kept of [webhook.value.secret, oldSecret])
      if (kept !== undefined && isEncrypted(kept))
        this.#vault()?.requireKnown(kept, `the secret of the webhook ${id}`);
    const changes: Change[] = [];
    const secret = this.keep(id, webhook.value.secret);
    if (secret !== webhook.value.secret)
      changes.push(put(webhooksName, id, webhook.version, { ...webhook.value, secret }));
    const old = oldSecret === undefined ? undefined : this.keep(id, oldSecret);
    if (old !== oldSecret) changes.push(putState(id, state, { oldSecret: old }));
    try {
      await records.commit(changes, at);
      return true;
    } catch (error) {
      if (isOvertaken(error)) return false;
      throw error;
    }
  }
}

function placeOf(webhook: string): string {
  return `${webhooksName}/${webhook}`;
}
