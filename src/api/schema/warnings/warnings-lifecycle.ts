import { POD_TTL } from '../../meta/annotations.ts';
import { type Fields, objectAt } from '../fields/defaults-fields.ts';

/** Warnings about the time of a bare pod after it finished (LIFE-067). */
export function podTtlWarnings(pod: Fields): string[] {
  const text = podTtlOf(pod);
  if (text === undefined || /^\d{1,9}$/.test(text)) return [];
  return [`metadata.annotations[${POD_TTL}]: ignored, because it is not a whole number of seconds`];
}

/** The template of a Job (at `path`) must not have that annotation, because its pods belong to the Job (LIFE-067). */
export function jobTtlWarnings(template: Fields | undefined, path: string): string[] {
  if (podTtlOf(template) === undefined) return [];
  const instead = 'use "ttlSecondsAfterFinished" of the Job instead';
  return [`${path}.metadata.annotations[${POD_TTL}]: ignored, because the pods of a Job belong to the Job; ${instead}`];
}

/** kubegc has no metrics by which to scale. */
export function autoscalerWarnings(): string[] {
  return ['kubegc runs no controller of HorizontalPodAutoscalers: the object is stored, and nothing is scaled'];
}

function podTtlOf(pod: Fields | undefined): string | undefined {
  const text = objectAt(objectAt(pod, 'metadata'), 'annotations')?.[POD_TTL];
  return text === undefined ? undefined : String(text);
}
