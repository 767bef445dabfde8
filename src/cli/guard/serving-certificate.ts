import type { KeyCertificate } from '../../apiserver/authentication/certificate-signer.ts';
import { createCertificateAuthority, issueServingCertificate } from '../../apiserver/authentication/certificates.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';

export interface RenewalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly hosts: readonly string[];
  /** Age at which a certificate is replaced; it is valid for a year. */
  readonly renewAfterMs: number;
  /** The current serving certificate. Its authority stays the same, so configurations need not change. */
  readonly onRenewed: (certificate: KeyCertificate) => void;
  readonly onFailed: (error: unknown) => void;
}

/** Retry interval after a failure. */
const RETRY_MS = 60_000;

/** An authority of this process, and a serving certificate that is replaced long before it expires. */
export class ServingCertificate {
  readonly #options: RenewalOptions;
  readonly #authority: KeyCertificate;
  #timer: Timer | undefined;
  #stopped = false;

  private constructor(options: RenewalOptions, authority: KeyCertificate) {
    this.#options = options;
    this.#authority = authority;
  }

  /** Creates both, or uses an authority that instances share. */
  static async start(options: RenewalOptions, shared?: KeyCertificate): Promise<[ServingCertificate, KeyCertificate]> {
    const authority = shared ?? (await createCertificateAuthority(options));
    const renewing = new ServingCertificate(options, authority);
    const certificate = await issueServingCertificate(authority, options);
    renewing.#schedule(options.renewAfterMs);
    return [renewing, certificate];
  }

  get caPem(): string {
    return this.#authority.certPem;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.setTimer(ms, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { renewAfterMs, onRenewed, onFailed } = this.#options;
    try {
      onRenewed(await issueServingCertificate(this.#authority, this.#options));
      this.#schedule(renewAfterMs);
    } catch (error) {
      onFailed(error);
      this.#schedule(RETRY_MS);
    }
  }
}
