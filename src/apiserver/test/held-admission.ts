import type { AdmissionPlugin } from '../admission/chain/admission-chain.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../admission/chain/attributes.ts';

/** A slow validating webhook: the first request of one sort waits in it until the test releases it, and later ones pass. */
export class HeldAdmission {
  readonly plugin: AdmissionPlugin;
  /** Resolves when the request waits; by then it has read everything that it depends on. */
  readonly reached: Promise<void>;
  release: () => void = () => undefined;

  /** `resource`: the plural. */
  constructor(operation: AdmissionOperation, resource: string) {
    let arrive: () => void = () => undefined;
    this.reached = new Promise((resolve) => (arrive = resolve));
    const gate = new Promise<void>((resolve) => (this.release = resolve));
    let first = true;
    this.plugin = {
      name: 'HeldAdmission',
      operations: [operation],
      validate({ info }: AdmissionAttributes): Promise<void> | undefined {
        if (!first || info.resource !== resource) return undefined;
        first = false;
        arrive();
        return gate;
      },
    };
  }
}
