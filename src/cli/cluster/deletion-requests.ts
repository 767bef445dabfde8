import type { AdmissionAttributes, AdmissionPlugin } from '../../apiserver/admission/chain/admission-chain.ts';
import type { DeletionRequest } from '../../cascade/record/deletion-recorder.ts';
import { isTransient } from '../../cascade/record/transient-kinds.ts';

/** Maximum number of objects whose request is remembered: those that wait for a finalizer or a kubelet. */
const MOST_REMEMBERED = 50_000;

type SeenAttributes = Pick<AdmissionAttributes, 'oldObject' | 'options' | 'dryRun'> & {
  readonly info: Pick<AdmissionAttributes['info'], 'group' | 'resource'>;
  readonly user: Pick<AdmissionAttributes['user'], 'username'>;
};

/**
 * Remembers the sender of each DELETE, for the records of `kubegc up --record` (CAS-060): a watch does not show the user. It refuses
 * nothing, and is the last plug-in, so that it sees only requests that all others admitted.
 */
export class DeletionRequests implements AdmissionPlugin {
  readonly name = 'KubegcDeletionRequests';
  readonly operations = ['DELETE'] as const;
  readonly #requests = new Map<string, DeletionRequest>();

  validate({ info, oldObject, user, options, dryRun }: SeenAttributes): void {
    if (dryRun || isTransient(info)) return;
    const { uid, deletionTimestamp } = oldObject?.metadata ?? {};
    // A later DELETE of a terminating object, such as that of a kubelet, did not begin its deletion.
    if (uid === undefined || deletionTimestamp) return;
    const policy = options?.['propagationPolicy'];
    this.#requests.delete(uid);
    this.#requests.set(uid, { requester: user.username, ...(typeof policy === 'string' ? { policy } : {}) });
    if (this.#requests.size <= MOST_REMEMBERED) return;
    const [oldest] = this.#requests.keys();
    this.#requests.delete(oldest!);
  }

  /** The request that deleted an object, which is gone now and is forgotten. Undefined if the request came before this process began. */
  take(uid: string): DeletionRequest | undefined {
    const request = this.#requests.get(uid);
    this.#requests.delete(uid);
    return request;
  }
}
