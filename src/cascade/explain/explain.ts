import { formatTime } from '../../api/meta/time.ts';
import { sentenceOf } from '../../collector/types/reasons.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { ExplainedOwner, Explanation, Finding, OwnerReferenceClass } from '../documents/explanation.ts';
import { isTerminating, type ObservedObject } from '../observed/observed-object.ts';
import { ABSENT_CLASSES, type OwnershipIndex, type ReferenceClass } from '../observed/ownership-index.ts';
import { collectorDecision } from './collector-decision.ts';
import type { ExplainEvidence } from './explain-evidence.ts';
import { findHolds } from './find-holds.ts';
import { findTraps } from './find-traps.ts';
import { allWaitedFor, chainEnd } from './waited-for.ts';

/** Explains why an object is alive, why it is not deleted, and what would free it (CAS-030, CAS-031, CAS-032). Pure. */
export function explain(evidence: ExplainEvidence): Explanation {
  const { index, subject } = evidence;
  const { readAt, incomplete } = index.observation;
  const origin = {
    apiVersion: DOCUMENT_API_VERSION,
    kind: 'Explanation',
    readAt: formatTime(readAt),
    source: 'list',
    ...(incomplete.length === 0 ? {} : { incomplete }),
  } as const;
  const object = index.byUid(subject.uid);
  if (object === undefined) {
    const message = 'The object does not exist.';
    return {
      ...origin,
      ref: subject,
      state: 'gone',
      verdict: 'forget',
      reason: 'objectAbsent',
      message,
      owners: [],
      heldBy: [],
      findings: [],
    };
  }
  const { ref, metadata } = object;
  const { verdict, reason } = collectorDecision(object, index, { inWaitingCycle: isInCycle(object, index) });
  const owners = (metadata.ownerReferences ?? []).map((reference): ExplainedOwner => {
    const classified = index.classify(object, reference);
    return { reference, class: documentClass(classified.class), proof: classified.proof };
  });
  const terminating = isTerminating(metadata);
  return {
    ...origin,
    ref,
    state: terminating ? 'terminating' : 'alive',
    ...(terminating ? { since: metadata.deletionTimestamp ?? '' } : {}),
    verdict,
    reason,
    message: sentenceOf(reason),
    owners,
    heldBy: findHolds(object, evidence),
    findings: distinct(allWaitedFor(object, index).flatMap((each) => findTraps(each, evidence))),
  };
}

function isInCycle(object: ObservedObject, index: OwnershipIndex): boolean {
  const { cycle } = chainEnd(object, index);
  return cycle !== undefined && cycle.length > 1 && cycle.includes(object);
}

function documentClass(cls: ReferenceClass): OwnerReferenceClass {
  if (cls === 'solid' || cls === 'waiting') return cls;
  return ABSENT_CLASSES.has(cls) ? 'dangling' : 'unresolvable';
}

function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((each) => [`${each.code} ${each.evidence}`, each])).values()];
}
