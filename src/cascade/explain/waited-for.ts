import { FINALIZER_FOREGROUND } from '../../api/meta/object-meta.ts';
import { isTerminating, type ObservedObject } from '../observed/observed-object.ts';
import type { OwnershipIndex } from '../observed/ownership-index.ts';
import { blockingDependents } from './collector-decision.ts';

/** Maximum number of objects that are followed; more would add nothing. */
const MOST = 200;

/**
 * The objects that a terminating object waits for directly: blocking dependents, the content of a namespace, the objects of a definition.
 * Terminating ones come first, because the deletion depends on them.
 */
export function waitedFor(object: ObservedObject, index: OwnershipIndex): readonly ObservedObject[] {
  const { ref, metadata } = object;
  if (!isTerminating(metadata)) return [];
  const content =
    ref.kind === 'Namespace' && ref.apiVersion === 'v1'
      ? index.observation.objects.filter((each) => each.ref.namespace === ref.name)
      : ref.kind === 'CustomResourceDefinition'
        ? index.observation.objects.filter((each) => `${each.ref.resource}.${groupOf(each)}` === ref.name)
        : [];
  const blocking =
    metadata.finalizers?.includes(FINALIZER_FOREGROUND) === true ? blockingDependents(ref.uid, index) : [];
  const all = [...new Set([...content, ...blocking])];
  return [
    ...all.filter((each) => isTerminating(each.metadata)),
    ...all.filter((each) => !isTerminating(each.metadata)),
  ];
}

/** The object and everything it waits for, at any depth, nearest first. */
export function allWaitedFor(subject: ObservedObject, index: OwnershipIndex): ObservedObject[] {
  const found = new Map([[subject.ref.uid, subject]]);
  for (const object of found.values()) {
    for (const next of waitedFor(object, index)) {
      if (found.size >= MOST) return [...found.values()];
      if (!found.has(next.ref.uid)) found.set(next.ref.uid, next);
    }
  }
  return [...found.values()];
}

/** The end of a chain of waiting objects. */
export interface ChainEnd {
  readonly object: ObservedObject;
  /** Set if the chain returned to one of its objects. */
  readonly cycle: readonly ObservedObject[] | undefined;
}

/**
 * Follows a chain from each object to the first one that it waits for. The chain ends at an object that waits for nothing, or when it
 * returns to one of its objects.
 */
export function chainEnd(from: ObservedObject, index: OwnershipIndex): ChainEnd {
  const path: ObservedObject[] = [];
  let object = from;
  for (;;) {
    const seen = path.indexOf(object);
    if (seen >= 0) return { object, cycle: path.slice(seen) };
    path.push(object);
    const [next] = waitedFor(object, index);
    if (next === undefined || path.length >= MOST) return { object, cycle: undefined };
    object = next;
  }
}

const groupOf = ({ ref }: ObservedObject): string => {
  const slash = ref.apiVersion.indexOf('/');
  return slash < 0 ? '' : ref.apiVersion.slice(0, slash);
};
