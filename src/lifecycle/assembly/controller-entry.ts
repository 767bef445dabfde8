import type { Service } from '../../base/service.ts';
import type { WakingResource } from '../kit/on-first-use.ts';
import type { SharedContext } from '../kit/shared-informers.ts';
import type { LifecycleSettings } from './lifecycle-settings.ts';

/** One controller that starts on demand; its key is kube-controller-manager's name. */
export interface ControllerEntry {
  /** The short name that kube-controller-manager still accepts. */
  readonly alias: string;
  readonly wakes: readonly WakingResource[];
  /** True if the settings let it run; always by default. */
  readonly when?: (settings: LifecycleSettings) => boolean;
  readonly load: (context: SharedContext, settings: LifecycleSettings) => Promise<Service>;
}

/** The object without undefined fields, so that a missing option is left to its controller. */
export function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
