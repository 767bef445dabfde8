import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { PropagationPolicy } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';
import type { CallContext } from './call-context.ts';
import type { DeleteOptionsSupport } from './delete-options-support.ts';
import { resourceRefOf } from './read-metadata.ts';
import { answerOf, type WriteAnswer } from './write-answer.ts';

interface DeleteRequest {
  readonly target: Target;
  readonly policy: PropagationPolicy;
  /** Uid and version are always given: because of the version, the delete fails if the references have changed (COL-150, designs/0009). */
  readonly preconditions: { readonly uid: string; readonly resourceVersion: string };
}

export interface DeleteContext extends CallContext {
  readonly deleteOptions: DeleteOptionsSupport;
}

/** DELETE by name. Always names the policy, and never grace or orphanDependents (COL-150, COL-170, COL-171). */
export function deleteObject(context: DeleteContext, request: DeleteRequest): Promise<WriteAnswer> {
  const { client, signal, deleteOptions } = context;
  const { target, policy, preconditions } = request;
  return answerOf(context, target, () =>
    client.deleted<KubeObject | null>(
      resourceRefOf(target),
      { preconditions, propagationPolicy: policy },
      { signal, optionsIn: deleteOptions.placeOf(target) },
    ),
  );
}
