import type { KubeObject } from '../../api/meta/object-meta.ts';
import {
  labelSelectorFromObject,
  labelSelectorFromSet,
  type LabelSelector,
} from '../../api/selectors/label-selector.ts';
import type { Labels } from '../../api/selectors/requirement.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';

/** Compiled once for each state of an owner, because cached objects never change. */
const compiled = new WeakMap<KubeObject, LabelSelector | 'invalid'>();

/** The selector in `spec.selector` of a workload; `invalid` for one that current servers would refuse. */
export function ownerSelector(owner: KubeObject): LabelSelector | 'invalid' {
  return compiledOnce(owner, (selector) => labelSelectorFromObject(selector as LabelSelectorObject | undefined));
}

/** The selector of a kind that has a plain map as selector, such as ReplicationController. */
export function ownerMapSelector(owner: KubeObject): LabelSelector | 'invalid' {
  return compiledOnce(owner, (selector) => labelSelectorFromSet(selector as Labels | undefined));
}

function compiledOnce(owner: KubeObject, compile: (selector: unknown) => LabelSelector): LabelSelector | 'invalid' {
  let selector = compiled.get(owner);
  if (selector === undefined) {
    try {
      selector = compile((owner['spec'] as { selector?: unknown } | undefined)?.selector);
    } catch {
      selector = 'invalid';
    }
    compiled.set(owner, selector);
  }
  return selector;
}

/** True if the owner's selector is valid, not empty, and matches this object. */
export function selects(selector: LabelSelector | 'invalid', object: KubeObject): boolean {
  return selector !== 'invalid' && !selector.empty && selector.matches(object.metadata?.labels);
}
