import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { type Clock, sleepUnlessAborted } from '../../../base/time/clock.ts';
import type { Random } from '../../../base/random/random.ts';
import { generateName } from '../../registry/object/name-generator.ts';
import type { Store } from '../../storage/interface.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { objectKey, resourcePrefix } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';
import { type Container, isOfPods, type Pod, podSpecOf, type PodSpec, type Volume } from './pod-object.ts';
import { secretProblem } from './secret-references.ts';
import type { TableEnvironment } from './table-environment.ts';

const ACCOUNTS = { group: '', resource: 'serviceaccounts', namespaced: true };
const DEFAULT_ACCOUNT = 'default';
const MIRROR = 'kubernetes.io/config.mirror';
const ENFORCE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';
const VOLUME_NAME = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** An unusual lifetime, which identifies these tokens. */
const TOKEN_SECONDS = 3607;

/** Retries for account `default` of a new namespace, which its controller will create soon. An event of the account ends the wait. */
const ATTEMPTS = 10;
const RETRY_MS = 100;

/** The facts of an account that its pods need. */
export interface ServiceAccountFacts {
  readonly name: string;
  readonly automount: boolean | undefined;
  readonly imagePullSecrets: readonly string[];
  readonly secrets: readonly string[];
  /** True if pods may only use the secrets that the account lists. */
  readonly enforceSecrets: boolean;
}

export interface ServiceAccountOptions extends TableEnvironment {
  readonly random: Random;
}

/**
 * Gives every pod an account of its namespace (API-341, upstream `plugin/pkg/admission/serviceaccount`): `default` unless it names one.
 * Mounts the account's token and sets its pull secrets, unless the pod or the account opt out.
 */
export class ServiceAccount implements AdmissionPlugin {
  readonly name = 'ServiceAccount';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #accounts: LiveTable<ServiceAccountFacts>;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Pods that wait for their account, by its key. At most as many as there are writes in flight. */
  readonly #waiting = new Map<string, Set<AbortController>>();

  constructor(options: ServiceAccountOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#accounts = new LiveTable({
      ...options,
      prefix: resourcePrefix(ACCOUNTS),
      read: factsOf,
      changed: (key) => {
        for (const change of this.#waiting.get(key) ?? []) change.abort();
      },
    });
  }

  start(): Promise<void> {
    return this.#accounts.start();
  }

  stop(): void {
    this.#accounts.stop();
  }

  admit(attributes: AdmissionAttributes): void | Promise<void> {
    const { operation, object } = attributes;
    if (operation !== 'CREATE' || !isOfPods(attributes) || object === undefined) return undefined;
    const pod = object as Pod;
    if (isMirror(pod)) {
      refuseMirrorReferences(attributes, pod);
      return undefined;
    }
    const spec = podSpecOf(pod);
    if ((spec.serviceAccountName ?? '') === '') spec.serviceAccountName = DEFAULT_ACCOUNT;
    // The older field name has the same value.
    spec.serviceAccount = spec.serviceAccountName ?? DEFAULT_ACCOUNT;
    return this.#withAccount(attributes, spec, (account) => this.#complete(spec, account));
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { operation, subresource, object } = attributes;
    if (!isOfPods(attributes, 'ephemeralcontainers') || object === undefined) return undefined;
    const pod = object as Pod;
    const debugging = operation === 'UPDATE' && subresource === 'ephemeralcontainers';
    if (operation !== 'CREATE' && !debugging) return undefined;
    if (!debugging && isMirror(pod)) {
      refuseMirrorReferences(attributes, pod);
      return undefined;
    }
    const spec = podSpecOf(pod);
    if ((spec.serviceAccountName ?? '') === '') {
      const why = `no service account specified for pod ${attributes.namespace}/${pod.metadata?.name ?? ''}`;
      throw admissionForbidden(attributes, why);
    }
    return this.#withAccount(attributes, spec, (account) => {
      if (!account.enforceSecrets) return;
      const problem = secretProblem(spec, account, debugging ? 'ephemeral' : 'all');
      if (problem !== undefined) throw admissionForbidden(attributes, problem);
    });
  }

  /** Does not wait if the account is known, which is nearly always. */
  #withAccount(
    attributes: AdmissionAttributes,
    spec: PodSpec,
    act: (account: ServiceAccountFacts) => void,
  ): void | Promise<void> {
    const { namespace } = attributes;
    const name = spec.serviceAccountName ?? '';
    const known = this.#accounts.get(`${namespace}/${name}`);
    if (known !== undefined) {
      act(known);
      return undefined;
    }
    return this.#lookUp(namespace, name).then((found) => {
      if (found !== undefined) {
        act(found);
        return;
      }
      const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
      throw admissionForbidden(attributes, why);
    });
  }

  async #lookUp(namespace: string, name: string): Promise<ServiceAccountFacts | undefined> {
    const attempts = name === DEFAULT_ACCOUNT ? ATTEMPTS : 1;
    const pause = RETRY_MS + this.#random.integer(RETRY_MS);
    for (let attempt = 1; ; attempt++) {
      // The wait begins before the store is read, so that no change is missed.
      using change = this.#nextChange(`${namespace}/${name}`);
      const { kv } = await this.#store.get(objectKey(ACCOUNTS, namespace, name));
      if (kv !== undefined) return factsOf(new StoredObject(kv).object());
      if (attempt >= attempts) return undefined;
      await sleepUnlessAborted(this.#clock, pause, change.signal);
    }
  }

  /** A signal that is aborted when the account of this key is created or deleted. */
  #nextChange(key: string): Disposable & { readonly signal: AbortSignal } {
    const change = new AbortController();
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(change));
    return {
      signal: change.signal,
      [Symbol.dispose]: () => {
        waiting.delete(change);
        if (waiting.size === 0) this.#waiting.delete(key);
      },
    };
  }

  #complete(spec: PodSpec, account: ServiceAccountFacts): void {
    if (spec.automountServiceAccountToken ?? account.automount ?? true) this.#mountToken(spec);
    if ((spec.imagePullSecrets?.length ?? 0) === 0 && account.imagePullSecrets.length > 0) {
      spec.imagePullSecrets = account.imagePullSecrets.map((name) => ({ name }));
    }
  }

  /** Containers with another mount at that path keep it. */
  #mountToken(spec: PodSpec): void {
    const there = spec.volumes?.find(({ name = '' }) => name.startsWith(VOLUME_NAME))?.name;
    const needing = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(mountsNothing);
    if (needing.length === 0) return;
    const name = there ?? generateName(VOLUME_NAME, this.#random);
    for (const container of needing) {
      container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: MOUNT_PATH }];
    }
    if (there === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
  }
}

function mountsNothing({ volumeMounts = [] }: Container): boolean {
  return !volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH);
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    },
  };
}

function isMirror({ metadata }: Pod): boolean {
  return metadata?.annotations?.[MIRROR] !== undefined;
}

/** A mirror pod, which a kubelet creates for a static pod, must not gain access to secrets or accounts. */
function refuseMirrorReferences(attributes: AdmissionAttributes, pod: Pod): void {
  const spec = podSpecOf(pod);
  if ((spec.serviceAccountName ?? '') !== '') {
    throw admissionForbidden(attributes, 'a mirror pod may not reference service accounts');
  }
  if (secretProblem(spec, { name: '', secrets: [], imagePullSecrets: [] }, 'all') !== undefined) {
    throw admissionForbidden(attributes, 'a mirror pod may not reference secrets');
  }
  const projects = (spec.volumes ?? []).some(({ projected }) =>
    ((projected as { sources?: readonly { serviceAccountToken?: unknown }[] } | undefined)?.sources ?? []).some(
      ({ serviceAccountToken }) => serviceAccountToken !== undefined,
    ),
  );
  if (projects) throw admissionForbidden(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}

function factsOf(object: KubeObject): ServiceAccountFacts {
  const { metadata = {}, automountServiceAccountToken: automount } = object;
  return {
    name: metadata.name ?? '',
    automount: typeof automount === 'boolean' ? automount : undefined,
    imagePullSecrets: namesOf(object['imagePullSecrets']),
    secrets: namesOf(object['secrets']),
    enforceSecrets: /^(1|t|true)$/i.test(metadata.annotations?.[ENFORCE_SECRETS] ?? ''),
  };
}

function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(({ name }: { name?: string }) => name ?? '') : [];
}
