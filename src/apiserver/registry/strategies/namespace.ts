import { decideNamespaceDelete } from '../../../api/deletion/namespace-delete.ts';
import type { FieldError } from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { validateFinalizerName } from '../../../api/validation/finalizers.ts';
import { metadataOf } from '../object/object-meta.ts';
import type { Strategy } from '../strategy.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const FINALIZER = 'kubernetes';

interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
}

/** The strategy of namespaces (API-300..306). */
export const namespaceStrategy: Strategy = {
  prepareForCreate(object: Namespace) {
    label(object);
    const finalizers = object.spec?.finalizers ?? [];
    if (!finalizers.includes(FINALIZER)) object.spec = { ...object.spec, finalizers: [...finalizers, FINALIZER] };
    object['status'] = { phase: 'Active' };
  },
  prepareForUpdate(next: Namespace, previous: Namespace, { subresource }) {
    label(next);
    if (subresource === '') next.spec = previous.spec ?? {};
  },
  validate: (object: Namespace) => finalizerProblems(object, () => 'spec.finalizers'),
  validateUpdate(next: Namespace, _previous, { subresource }) {
    return subresource === 'finalize' ? finalizerProblems(next, (i) => `spec.finalizers[${i}]`) : [];
  },
  decideDelete: decideNamespaceDelete,
};

/** A finalizer that no controller serves would keep the namespace for ever. */
function finalizerProblems({ spec }: Namespace, path: (index: number) => string): FieldError[] {
  return (spec?.finalizers ?? []).flatMap((name, i) => validateFinalizerName(name, path(i)));
}

function label(object: KubeObject): void {
  const meta = metadataOf(object);
  meta.labels = { ...meta.labels, [NAME_LABEL]: meta.name ?? '' };
}
