import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import { metadataOf } from '../object/object-meta.ts';
import type { Strategy } from '../strategy.ts';

interface Job extends KubeObject {
  spec?: {
    manualSelector?: boolean;
    selector?: { matchLabels?: Record<string, string> };
    template?: { metadata?: ObjectMeta };
  };
}

const UID_LABEL = 'batch.kubernetes.io/controller-uid';
const NAME_LABEL = 'batch.kubernetes.io/job-name';
/** Older names of the two labels, which clients still select by. */
const LEGACY_UID_LABEL = 'controller-uid';
const LEGACY_NAME_LABEL = 'job-name';

/** A job owns exactly the pods with its uid as label, unless the client manages the selector itself. */
export const jobStrategy: Strategy = {
  prepareForCreate(job: Job) {
    const { spec } = job;
    if (spec === undefined || spec.manualSelector === true) return;
    const { uid = '', name = '' } = job.metadata ?? {};
    spec.template ??= {};
    spec.template.metadata ??= {};
    const { metadata } = spec.template;
    metadata.labels = {
      ...metadata.labels,
      [UID_LABEL]: uid,
      [LEGACY_UID_LABEL]: uid,
      [NAME_LABEL]: name,
      [LEGACY_NAME_LABEL]: name,
    };
    // A job without labels gets those of its pods. Defaults are applied on read, so they see these labels.
    const meta = metadataOf(job);
    if (Object.keys(meta.labels ?? {}).length === 0) meta.labels = { ...metadata.labels };
    spec.selector = { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [UID_LABEL]: uid } };
  },
};
