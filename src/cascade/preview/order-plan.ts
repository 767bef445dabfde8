import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan, PlanRoot } from '../documents/cascade-plan.ts';
import { readPresent } from '../snapshot/read-present.ts';
import { objectName } from './object-name.ts';
import { wavesOf } from './waves.ts';

/** Objects of one request wait for each other in a circle, so no order exists for their deletion. */
export class OrderCircleError extends Error {
  override readonly name = 'OrderCircleError';
}

/**
 * The plan with its roots in waves, if their annotations define an order (CAS-054); otherwise the plan unchanged. Reads the metadata of the
 * roots, unless there is only one. Rejects with an {@link OrderCircleError}.
 */
export async function orderPlan(client: RestClient, plan: CascadePlan): Promise<CascadePlan> {
  if (plan.roots.length < 2) return plan;
  const refs = plan.roots.map(({ ref }) => ref);
  const present = await readPresent(client, refs);
  const annotations = new Map(present.map(({ ref, metadata }) => [ref.uid, metadata.annotations ?? {}]));
  const found = wavesOf(refs.map((ref) => ({ ref, annotations: annotations.get(ref.uid) ?? {} })));
  if ('circle' in found) {
    throw new OrderCircleError(`each waits for the next to be gone: ${found.circle.map(objectName).join(', ')}`);
  }
  const { waves } = found;
  // `every`, because a request may have more roots than a call may have arguments.
  if ([...waves.values()].every((wave) => wave === 1)) return plan;
  const roots = plan.roots.map((root) => ({ ...root, wave: waves.get(root.ref.uid)! }));
  return { ...plan, roots: roots.toSorted((a, b) => a.wave - b.wave) };
}

/** The roots of a plan, wave by wave. */
export function rootsByWave({ roots }: Pick<CascadePlan, 'roots'>): readonly (readonly PlanRoot[])[] {
  const waves: PlanRoot[][] = [];
  for (const root of roots) (waves[(root.wave ?? 1) - 1] ??= []).push(root);
  return waves.filter((wave) => wave !== undefined);
}
