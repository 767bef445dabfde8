import type { KubeObject } from '../../api/meta/object-meta.ts';
import { systemClock } from '../../base/time/clock.ts';
import { discover } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { UndoPlan } from '../documents/undo-plan.ts';
import type { UndoResult } from '../documents/undo-result.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { planUndo, type UndoOptions } from './plan-undo.ts';
import { readUndoFacts } from './read-undo-facts.ts';
import { runUndo } from './run-undo.ts';

export const undoDefaults: UndoOptions = { id: '20261126t155500-0000abcd', managed: 'rebuild', onConflict: 'fail' };

/** Reads, plans and carries out an undo, like the command. */
export async function undoWith(
  client: RestClient,
  objects: readonly RecordedObject[],
  options: Partial<UndoOptions> & { readonly finalizers?: readonly string[] } = {},
): Promise<{ plan: UndoPlan; result: UndoResult }> {
  const { finalizers = [], ...undo } = options;
  const discovery = await discover(client);
  const finalizerServed = (finalizer: string): boolean => finalizers.includes(finalizer);
  const facts = await readUndoFacts(objects, { client, discovery, finalizerServed });
  const planned = planUndo(facts, { ...undoDefaults, ...undo });
  return { plan: planned.plan, result: await runUndo(planned, { client, clock: systemClock }) };
}

/** `kind/name` of every object, with a detail that the test chooses. */
export function said<T extends { readonly ref: { readonly kind: string; readonly name: string } }>(
  objects: readonly T[],
  what: (object: T) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(objects.map((each) => [`${each.ref.kind}/${each.ref.name}`, what(each)]));
}

export const asRecorded = (objects: readonly KubeObject[]): RecordedObject[] => objects.map((body) => ({ body }));
