import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { controllerOf, isTerminating, type OwnerKind } from './controller-reference.ts';
import type { Expectations } from './expectations.ts';
import { BY_CONTROLLER, BY_NAMESPACE, orphansOf, type SharedCache } from '../kit/shared-informers.ts';

interface DependentsOptions {
  readonly ownerKind: OwnerKind;
  readonly owners: SharedCache;
  readonly dependents: SharedCache;
  /** True if the owner's selector matches this object without a controller. */
  readonly selects: (owner: KubeObject, orphan: KubeObject) => boolean;
  readonly expectations: Expectations;
  readonly trigger: (ownerKey: string) => void;
  /** Called with an update of a dependent after its owner was triggered. */
  readonly onUpdate?: (ownerKey: string, previous: KubeObject, dependent: KubeObject) => void;
}

/** Maps events of dependents to keys of owners, and an owner to its candidates (LIFE-004 to LIFE-007). */
export class Dependents {
  readonly #options: DependentsOptions;

  constructor(options: DependentsOptions) {
    this.#options = options;
  }

  /** Starts to trigger owners. Returns a function that stops it. */
  watch(): () => void {
    const { dependents, trigger, onUpdate, expectations } = this.#options;
    const wake = (key: string | undefined): void => {
      if (key !== undefined) trigger(key);
    };
    return dependents.addHandler({
      added: (object) => {
        const controller = controllerOf(object);
        if (controller !== undefined) wake(this.#resolve(object, controller));
        else if (!isTerminating(object)) this.#triggerSelecting(object);
      },
      updated: (previous, object) => {
        const before = controllerOf(previous);
        const controller = controllerOf(object);
        const moved = before?.uid !== controller?.uid;
        if (moved && before !== undefined) wake(this.#resolve(object, before));
        if (isTerminating(object)) wake(expectations.waitingFor(object.metadata?.uid));
        if (controller !== undefined) {
          const key = this.#resolve(object, controller);
          wake(key);
          if (key !== undefined) onUpdate?.(key, previous, object);
          return;
        }
        if (isTerminating(object)) return;
        if (moved || !deepEqual(previous.metadata?.labels, object.metadata?.labels)) this.#triggerSelecting(object);
      },
      deleted: (object) => {
        const controller = controllerOf(object);
        if (controller !== undefined) wake(this.#resolve(object, controller));
        wake(expectations.waitingFor(object.metadata?.uid));
      },
    });
  }

  /** The objects that the owner controls, and those without a controller in its namespace. */
  candidates<T extends KubeObject>(owner: KubeObject): T[] {
    const { uid = '', namespace = '' } = owner.metadata ?? {};
    const { dependents } = this.#options;
    const owned = dependents.byIndex(BY_CONTROLLER, uid).filter(({ metadata }) => metadata?.namespace === namespace);
    return [...owned, ...dependents.byIndex(BY_CONTROLLER, orphansOf(namespace))] as T[];
  }

  /** The key of the owner that the reference names, if the owner there has its uid (LIFE-005). */
  #resolve({ metadata }: KubeObject, { kind, name, uid }: OwnerReference): string | undefined {
    if (kind !== this.#options.ownerKind.kind) return undefined;
    const key = `${metadata?.namespace ?? ''}/${name}`;
    return this.#options.owners.get(key)?.metadata?.uid === uid ? key : undefined;
  }

  #triggerSelecting(orphan: KubeObject): void {
    const { owners, selects, trigger } = this.#options;
    for (const owner of owners.byIndex(BY_NAMESPACE, orphan.metadata?.namespace ?? '')) {
      if (selects(owner, orphan)) trigger(keyOf(owner));
    }
  }
}
