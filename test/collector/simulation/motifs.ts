import type { Random } from '../../../src/base/random/random.ts';
import { type OwnerPlan, placeOf, type PlaceText, placeText, type Policy, type Step } from './plan.ts';
import type { PlanGround } from './plan-ground.ts';
import type { PlanStyle } from './plan-style.ts';
import { kindNamed } from './simulated-kinds.ts';

/** Steps of clients one after the other, with a purpose; between the steps other things may happen. */
export type Motif = (scene: Scene) => readonly Step[];

export interface Scene {
  readonly random: Random;
  readonly ground: PlanGround;
  readonly style: PlanStyle;
}

export function pickMotif(scene: Scene): readonly Step[] {
  return scene.random.pick(MOTIFS)(scene);
}

/** A reference is taken off a dependent of what goes, and comes back in another form. */
const putBack: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const other = random.pick([owner, ...ground.near(at)]);
  const isMade = other !== owner && random.integer(2) === 0;
  const again = random.integer(3) === 0;
  const back = { ...ground.reference(owner), ...(again && random.integer(2) === 0 ? { before: 1 } : {}) };
  return [
    ...(isMade ? [create(scene, other)] : []),
    ...shuffledPair(scene, create(scene, owner), create(scene, at, [ground.reference(owner)])),
    drop(scene, owner),
    ...(again ? [create(scene, owner)] : []),
    refer(at, random.integer(3) === 0 ? [] : [ground.reference(other)]),
    refer(at, [back]),
    ...(random.integer(3) === 0 ? [drop(scene, other)] : []),
  ];
};

/**
 * The collector sees nothing of one kind, but something of another has it look: what it finds is newer than what it knows, and is as
 * before when it sees again.
 */
const unseen: Motif = (scene) => {
  const { random, ground, style } = scene;
  const at = ground.place();
  const { kind } = placeOf(at);
  const owners = ground.near(at).filter((near) => placeOf(near).kind !== kind);
  if (owners.length === 0 || style.between === 0) return putBack(scene);
  const owner = random.pick(owners);
  const other = random.pick(ground.near(at));
  const blind = random.integer(4) === 0 ? placeOf(owner).kind : kind;
  const times = 1 + random.integer(3);
  const wait: Step = { do: 'wait', ms: 1 + random.integer(random.pick([20, 700, 3000])) };
  return [
    ...(other === owner ? [] : [create(scene, other)]),
    held(create(scene, owner), random),
    create(scene, at, [ground.reference(owner)]),
    ...(random.integer(2) === 0
      ? [{ do: 'fault', fault: 'unavailable', on: 'intake', kind: blind, times } as const]
      : []),
    { do: 'stream', stream: 'gone', kind: blind },
    refer(at, random.integer(3) === 0 ? [] : [ground.reference(other)]),
    drop(scene, owner),
    ...(random.integer(3) > 0 ? [wait] : []),
    refer(at, [ground.reference(owner)]),
    ...(random.integer(3) === 0 ? [drop(scene, owner)] : []),
    ...(random.integer(2) === 0 ? [{ do: 'wait', ms: 30_000 } as const] : []),
  ];
};

/** An owner goes, and another takes its name. */
const successor: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  return [
    create(scene, owner),
    create(scene, at, [ground.reference(owner)]),
    drop(scene, owner),
    create(scene, owner),
    refer(at, [ground.reference(owner), ...(random.integer(2) === 0 ? [{ at: owner, before: 1 }] : [])]),
    ...(random.integer(2) === 0 ? [drop(scene, owner)] : []),
  ];
};

/** Two references to one uid. */
const twins: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const references = (): OwnerPlan[] => [
    { at: owner, block: true },
    random.pick([
      { at: owner },
      { at: owner, named: 'z' },
      { at: owner, as: random.pick(ground.kinds), block: true },
      ground.reference(owner),
    ]),
  ];
  const both = references();
  return [
    create(scene, owner),
    create(scene, at, random.integer(2) === 0 ? both : both.toReversed()),
    ...(random.integer(2) === 0 ? [drop(scene, owner)] : []),
    refer(at, random.integer(2) === 0 ? [{ at: owner }] : references()),
    drop(scene, owner),
  ];
};

/** Objects that own each other, deleted in foreground: at once, one after the other, or only one of them. */
const cycle: Motif = (scene) => {
  const { random, ground } = scene;
  const { kind, namespace } = placeOf(ground.place());
  const names = ['a', 'b', 'c'].slice(0, 2 + random.integer(2));
  const places = names.map((name) => placeText({ kind, namespace, name }));
  const ownedBy = (index: number): OwnerPlan => ({ at: places.at(index - 1)!, block: true });
  const dropped = places.filter(() => random.integer(3) > 0);
  // The client that opens the cycle does not get the new state of the object.
  const untold = { do: 'fault', fault: 'successStatus', on: 'patch', kind, times: 1 } as const;
  return [
    ...places.map((at, index) => create(scene, at, index === 0 ? [] : [ownedBy(index)])),
    refer(places[0]!, [ownedBy(0)]),
    ...(random.integer(8) === 0 ? [untold] : []),
    ...dropped.map((at) => drop(scene, at, random.integer(4) === 0 ? undefined : 'Foreground')),
    ...(random.integer(2) === 0 ? [refer(random.pick(places), [])] : []),
  ];
};

/** A client deletes an object and then changes the policy. */
const changeOfMind: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const policies: readonly Policy[] = random.pick([
    ['Background', 'Foreground', 'Orphan'],
    ['Foreground', 'Orphan'],
    ['Orphan', 'Foreground'],
    ['Orphan', 'Background'],
    ['Foreground', 'Background', 'Foreground'],
    ['Foreground', 'Orphan', 'Foreground'],
  ]);
  const deletions = policies.flatMap((policy) => {
    const late = random.integer(3) === 0 ? [refer(at, [ground.reference(owner)])] : [];
    return [...late, drop(scene, owner, policy)];
  });
  return [
    held(create(scene, owner), random),
    held(create(scene, at, [ground.reference(owner)]), random),
    ...deletions,
    ...random.pick([[], [{ do: 'release', at }], [{ do: 'strip', at: owner }], [drop(scene, at)]] as const),
  ];
};

/** One owns the next, which owns the next. */
const chain: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const root = random.pick(ground.near(owner));
  return [
    create(scene, root),
    create(scene, owner, [ground.reference(root)]),
    held(create(scene, at, [ground.reference(owner)]), random),
    ...(random.integer(3) === 0 ? [refer(owner, [ground.reference(root), { at, block: true }])] : []),
    ...(random.integer(2) === 0 ? [refer(at, [ground.reference(owner), ground.reference(root)])] : []),
    drop(scene, root, random.integer(2) === 0 ? 'Foreground' : undefined),
    ...(random.integer(2) === 0 ? [refer(owner, random.integer(2) === 0 ? [] : [ground.reference(root)])] : []),
    ...(random.integer(2) === 0 ? [drop(scene, owner)] : []),
  ];
};

/** An object with two owners loses them one after the other. */
const shared: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const other = random.pick(ground.near(at));
  const both = [ground.reference(owner), ground.reference(other)];
  return [
    create(scene, owner),
    create(scene, other),
    create(scene, at, both),
    drop(scene, owner),
    ...(random.integer(2) === 0 ? [refer(at, both)] : []),
    drop(scene, other),
    ...(random.integer(2) === 0 ? [create(scene, other), refer(at, [ground.reference(other)])] : []),
  ];
};

/** While an owner waits or orphans, new dependents refer to it. */
const lateDependent: Motif = (scene) => {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const hold: Step = { do: 'hold', at };
  return [
    held(create(scene, owner), random),
    create(scene, at, random.integer(2) === 0 ? [ground.reference(owner)] : []),
    ...(random.integer(2) === 0 ? [hold] : []),
    drop(scene, owner, random.pick(['Foreground', 'Orphan', 'Orphan'])),
    random.integer(2) === 0
      ? refer(at, [ground.reference(owner)])
      : create(scene, random.pick(ground.near(owner)), [ground.reference(owner)]),
    ...(random.integer(2) === 0 ? [refer(at, [])] : []),
  ];
};

/** A definition goes with its objects, and comes back. */
const redefinition: Motif = (scene) => {
  const { random, ground } = scene;
  const defined = ground.kinds.filter((kind) => kindNamed(kind).origin === 'defined');
  if (defined.length === 0) return chain(scene);
  const kind = random.pick(defined);
  const at = ground.place();
  const { namespace, kind: ownKind } = placeOf(at);
  const isNamespaced = kindNamed(kind).namespaced;
  const owner = placeText({ kind, namespace: isNamespaced ? namespace || 'default' : '', name: 'a' });
  const define: Step[] = [
    { do: 'define', kind },
    ...(random.integer(3) > 0 ? [{ do: 'wait', ms: 3000 } as const] : []),
  ];
  if (ownKind === kind) return [...define, create(scene, owner), { do: 'undefine', kind }, ...define];
  return [
    ...define,
    create(scene, owner),
    create(scene, at, [ground.reference(owner)]),
    ...(random.integer(2) === 0 ? [drop(scene, owner)] : []),
    { do: 'undefine', kind },
    ...(random.integer(2) === 0 ? [refer(at, [ground.reference(owner)])] : []),
    ...(random.integer(2) === 0 ? [...define, create(scene, owner), refer(at, [ground.reference(owner)])] : []),
  ];
};

/** Steps before a backup is made, and steps after it, which the restore undoes. */
export interface Undone {
  readonly before: readonly Step[];
  readonly after: readonly Step[];
}

/**
 * An owner is deleted in some way, or orphans, or waits, together with its dependents; some of it is under way already when the backup is
 * made.
 */
export function pickUndone(scene: Scene): Undone {
  const { at, owner } = pair(scene);
  const { random, ground } = scene;
  const other = random.pick(ground.near(at));
  const isShared = other !== owner && random.integer(3) === 0;
  const references = [ground.reference(owner), ...(isShared ? [ground.reference(other)] : [])];
  const begun: Step[] = [
    ...(isShared ? [create(scene, other)] : []),
    held(create(scene, owner), random),
    held(create(scene, at, references), random),
    ...(random.integer(4) === 0 ? [{ do: 'wait', ms: 1000 } as const] : []),
  ];
  const ends: Step[] = [
    drop(scene, owner),
    ...random.pick<readonly Step[]>([
      [],
      [],
      [{ do: 'release', at: owner }],
      [{ do: 'release', at }],
      [{ do: 'strip', at: owner }],
      [drop(scene, owner, 'Orphan')],
      [drop(scene, at)],
      [refer(at, [])],
      [create(scene, owner), refer(at, [ground.reference(owner)])],
      [create(scene, random.pick(ground.near(owner)), [ground.reference(owner)])],
    ]),
    ...(isShared ? [drop(scene, other)] : []),
  ];
  const under = random.integer(4) === 0 ? 1 + random.integer(ends.length) : 0;
  return { before: [...begun, ...ends.slice(0, under)], after: ends.slice(under) };
}

const MOTIFS: readonly Motif[] = [
  unseen,
  unseen,
  unseen,
  putBack,
  putBack,
  successor,
  twins,
  cycle,
  cycle,
  changeOfMind,
  changeOfMind,
  chain,
  shared,
  lateDependent,
  redefinition,
];

function pair({ random, ground }: Scene): { readonly at: PlaceText; readonly owner: PlaceText } {
  const at = ground.place();
  return { at, owner: random.pick(ground.near(at)) };
}

function create({ ground }: Scene, at: PlaceText, owners: readonly OwnerPlan[] = []): Step & { readonly do: 'create' } {
  ground.created(at);
  return { do: 'create', at, ...(owners.length === 0 ? {} : { owners }) };
}

function held(step: Step & { readonly do: 'create' }, random: Random): Step {
  return random.integer(2) === 0 ? { ...step, finalizers: ['hold'] } : step;
}

function refer(at: PlaceText, owners: readonly OwnerPlan[]): Step {
  return { do: 'refer', at, owners };
}

function drop({ random, style, ground }: Scene, at: PlaceText, policy?: Policy): Step {
  ground.deleted(at);
  return { do: 'delete', at, policy: policy ?? random.pick(style.policies) };
}

function shuffledPair({ random }: Scene, first: Step, second: Step): Step[] {
  return random.integer(4) === 0 ? [second, first] : [first, second];
}
