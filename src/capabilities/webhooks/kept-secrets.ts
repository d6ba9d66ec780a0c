/** How the store keeps the secrets of webhooks: encrypted, if the service was given a secret of its own. */
import { isOvertaken, put } from "../../records.ts";
import type { Vault } from "../../secrets.ts";
import type { Change } from "../../store/port/commit.ts";
import { createSecret } from "./signature.ts";
import { isEncrypted, type Webhook, webhooksName } from "./webhook.ts";
import { ownOf, putOwn, type WebhookRecords } from "./webhook-records.ts";

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
   * one of them. With `replacesLost`, the webhook gets a new secret instead. Returns the webhooks with new secrets. Without a vault, it
   * does nothing.
   */
  async encryptAll(
    records: WebhookRecords,
    { now, replacesLost = false }: { now: () => number; replacesLost?: boolean },
  ): Promise<{ webhook: Webhook; secret: string }[]> {
    if (this.#vault() === undefined) return [];
    const replaced: { webhook: Webhook; secret: string }[] = [];
    for (const { value: webhook } of await records.all()) {
      const secret = await this.#encrypt(records, webhook.id, { now, replacesLost });
      if (secret !== undefined) replaced.push({ webhook, secret });
    }
    return replaced;
  }

  /** Encrypts the secrets of a webhook. Returns its new secret if the one that it had is lost. */
  async #encrypt(
    records: WebhookRecords,
    id: string,
    how: { now: () => number; replacesLost: boolean },
  ): Promise<string | undefined> {
    const state = await records.state(id);
    const webhook = await records.webhook(id);
    if (webhook === undefined) return undefined;
    const { oldSecret } = ownOf(state?.value);
    const lost = [webhook.value.secret, oldSecret].filter((kept) => this.#isLost(kept));
    if (!how.replacesLost)
      for (const kept of lost) this.#vault()?.requireKnown(kept as string, `the secret of the webhook ${id}`);
    const made = lost.includes(webhook.value.secret) ? createSecret() : undefined;
    const changes: Change[] = [];
    const secret = this.keep(id, made ?? webhook.value.secret);
    if (secret !== webhook.value.secret)
      changes.push(put(webhooksName, id, webhook.version, { ...webhook.value, secret }));
    const old = oldSecret === undefined || lost.includes(oldSecret) ? undefined : this.keep(id, oldSecret);
    if (old !== oldSecret) changes.push(putOwn(id, state, { oldSecret: old }));
    try {
      await records.commit(changes, how.now());
      return made;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      return this.#encrypt(records, id, how); // another instance was faster
    }
  }

  #isLost(kept: string | undefined): boolean {
    return kept !== undefined && isEncrypted(kept) && this.#vault()?.knows(kept) === false;
  }
}

function placeOf(webhook: string): string {
  return `${webhooksName}/${webhook}`;
}
