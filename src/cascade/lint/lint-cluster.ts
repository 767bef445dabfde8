import { humanDuration } from '../../api/meta/duration.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { LintFinding, LintReport } from '../documents/lint-report.ts';
import { isTerminating, nameOf, type Observation, type ObservedObject } from '../observed/observed-object.ts';
import { ABSENT_CLASSES, type ClassifiedReference, OwnershipIndex } from '../observed/ownership-index.ts';
import { type LintCode, lintCodes } from './lint-codes.ts';
import { cyclesOf } from './owner-cycles.ts';

export interface LintOptions {
  /** Minimum time in milliseconds after which a terminating object is reported. */
  readonly olderThanMs: number;
}

/** Maximum number of members of a cycle in its message. */
const NAMED_MEMBERS = 5;

/** Problems of ownership in the observation (CAS-040). Pure. Findings are sorted by object. */
export function lintCluster(observation: Observation, { olderThanMs }: LintOptions): LintReport {
  const index = new OwnershipIndex(observation);
  const findings: LintFinding[] = [];
  for (const object of observation.objects) {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length > 0) for (const each of referenceFindings(object, index)) findings.push(each);
    const late = terminatingFinding(object, observation.readAt, olderThanMs);
    if (late !== undefined) findings.push(late);
  }
  for (const each of cycleFindings(index)) findings.push(each);
  findings.sort((a, b) => compare(sortKey(a), sortKey(b)));
  const { readAt, incomplete } = observation;
  return {
    apiVersion: DOCUMENT_API_VERSION,
    kind: 'LintReport',
    readAt: formatTime(readAt),
    source: 'list',
    ...(incomplete.length === 0 ? {} : { incomplete }),
    findings,
  };
}

/** A finding of a code, with its severity. */
export function finding(
  code: LintCode,
  { ref, message, fix }: { ref?: ObservedObject['ref']; message: string; fix?: string },
): LintFinding {
  return {
    code,
    severity: lintCodes[code][0],
    ...(ref === undefined ? {} : { ref }),
    message,
    ...(fix === undefined ? {} : { fix }),
  };
}

function* referenceFindings(object: ObservedObject, index: OwnershipIndex): Generator<LintFinding> {
  const { ref, metadata } = object;
  const references = metadata.ownerReferences ?? [];
  const classified = references.map((reference) => index.classify(object, reference));
  for (const each of classified) {
    const found = classFinding(object, each);
    if (found !== undefined) yield found;
  }
  const uids = references.map(({ uid }) => uid);
  const twice = references.find(({ uid }, i) => uids.indexOf(uid) !== i);
  if (twice !== undefined) {
    const fix = 'Remove one of the two references.';
    yield finding('duplicateOwner', { ref, message: `two references name ${nameOf(twice)}`, fix });
  }
  const controllers = references.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const message = `${controllers.map(nameOf).join(' and ')} both claim to be its controller`;
    yield finding('twoControllers', { ref, message, fix: 'Set controller: false on all but one reference.' });
  }
  if (uids.includes(ref.uid)) {
    const fix = 'Remove the reference: with blockOwnerDeletion the object would wait for itself.';
    yield finding('selfOwner', { ref, message: 'it owns itself', fix });
  }
  if (!isTerminating(metadata) && classified.every((each) => ABSENT_CLASSES.has(each.class))) {
    const message = 'none of its owners exists: a collector that starts now deletes it';
    yield finding('deletedNow', { ref, message, fix: fixOfDeletedNow(classified) });
  }
}

const fixOfDeletedNow = (classified: readonly ClassifiedReference[]): string =>
  classified.some((each) => each.class === 'staleUid')
    ? 'Repair the references before a collector starts: kubectl cascade relink --live.'
    : 'To keep it, remove its ownerReferences before a collector starts; else delete it.';

function classFinding({ ref }: ObservedObject, each: ClassifiedReference): LintFinding | undefined {
  const { proof: message, reference } = each;
  switch (each.class) {
    case 'dangling':
      return finding('danglingOwner', { ref, message, fix: `Remove the reference to ${nameOf(reference)}.` });
    case 'staleUid':
      return finding('staleOwnerUid', { ref, message, fix: 'kubectl cascade relink --live repairs it.' });
    case 'otherNamespace':
      return finding('crossNamespaceOwner', {
        ref,
        message,
        fix: 'Use an owner in the same namespace, or one that is cluster-scoped.',
      });
    case 'namespacedOwner':
      return finding('namespacedOwner', { ref, message, fix: 'Use a cluster-scoped owner, or remove the reference.' });
    case 'otherIdentity':
      return finding('ownerIdentity', { ref, message, fix: 'Write the kind and name that belong to the uid.' });
    case 'unservedVersion':
      return finding('ownerKindNotServed', {
        ref,
        message,
        fix: 'Write a version that is served into the reference.',
      });
    case 'unservedKind':
      return finding('ownerKindNotServed', {
        ref,
        message,
        fix: `Install the definition of ${reference.kind} again, or remove the reference.`,
      });
    case 'unread':
      return finding('ownerUnknown', { ref, message });
    default:
      return undefined;
  }
}

function terminatingFinding(
  { ref, metadata }: ObservedObject,
  now: number,
  olderThanMs: number,
): LintFinding | undefined {
  if (!isTerminating(metadata)) return undefined;
  const since = parseTime(metadata.deletionTimestamp ?? '') ?? now;
  if (now - since <= olderThanMs) return undefined;
  const { finalizers = [] } = metadata;
  const holds = finalizers.length === 0 ? '' : `; finalizers: ${finalizers.join(', ')}`;
  return finding('terminatingLong', {
    ref,
    message: `it has been terminating for ${humanDuration(now - since)}${holds}`,
    fix: `kubectl cascade explain ${nameOf(ref)}${ref.namespace === undefined ? '' : ` -n ${ref.namespace}`} says why.`,
  });
}

function* cycleFindings(index: OwnershipIndex): Generator<LintFinding> {
  const { objects } = index.observation;
  const numbers = new Map(objects.map(({ ref }, number) => [ref.uid, number]));
  const owners = (number: number): number[] => {
    const object = objects[number]!;
    return (object.metadata.ownerReferences ?? []).flatMap((reference) => {
      const owner = numbers.get(reference.uid);
      return owner === undefined || owner === number ? [] : [owner];
    });
  };
  for (const cycle of cyclesOf(objects.length, owners)) {
    const members = cycle.map((number) => objects[number]!);
    const named = members.slice(0, NAMED_MEMBERS).map(({ ref }) => nameOf(ref));
    const more = members.length > NAMED_MEMBERS ? ` and ${members.length - NAMED_MEMBERS} more` : '';
    yield finding('ownerCycle', {
      ref: members[0]!.ref,
      message: `${named.join(', ')}${more} own each other: none of them is ever collected`,
      fix: 'Remove one of the references.',
    });
  }
}

function sortKey({ ref, code }: LintFinding): string {
  return [ref?.namespace ?? '', ref?.kind ?? '', ref?.name ?? '', code].join('\u0000');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
