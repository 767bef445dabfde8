import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelSignature, mayHave } from '../../../api/selectors/label-signature.ts';
import { collectGarbage } from '../../../base/collect-garbage.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { type ListResult, RevisionCompactedError, RevisionFutureError } from '../interface.ts';
import { MultiVersionMap, eventOf } from './mvcc.ts';
import type { Change, WriteDecision } from './mvcc.ts';
import { ValueSlabs } from './value-slabs.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const options = { historyBound: 1000, signatureOf: (value: Uint8Array) => signatureOf(value) };

/** The value as a reader sees it, in a comparable form. */
interface Row {
  readonly key: string;
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
}

type Entry = Pick<Change, 'key' | 'value' | 'createRevision' | 'modRevision'>;

/** A simple model of the map: a copy of the state after each revision, and each change. */
class Model {
  states: Map<string, Row>[] = [new Map()];
  log: Entry[] = [];
  published = 0;
  compacted = 0;

  get revision(): number {
    return this.states.length - 1;
  }

  get pending(): Map<string, Row> {
    return this.states.at(-1) ?? new Map<string, Row>();
  }

  write(key: string, value: string | undefined): Row | undefined {
    const next = new Map(this.pending);
    const modRevision = this.revision + 1;
    const createRevision = next.get(key)?.createRevision ?? modRevision;
    const row = value === undefined ? undefined : { key, value, createRevision, modRevision };
    if (row === undefined) next.delete(key);
    else next.set(key, row);
    this.states.push(next);
    this.log.push({ key, value: value === undefined ? undefined : bytes(value), createRevision, modRevision });
    return row;
  }

  at(revision: number): Row[] {
    return [...(this.states[revision]?.values() ?? [])].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }
}

const row = (kv: { key: string; value: Uint8Array; createRevision: number; modRevision: number } | undefined) =>
  kv && {
    key: kv.key,
    value: Buffer.from(kv.value).toString(),
    createRevision: kv.createRevision,
    modRevision: kv.modRevision,
  };

interface Real {
  map: MultiVersionMap;
  /** The journal: the entries that a restart would find. */
  journal: Map<number, Entry>;
  /** The compacted revision when the journal last forgot something. */
  journaled: number;
}

/** Compares every answer of the map with the model. */
function compare(model: Model, { map }: Pick<Real, 'map'>): void {
  expect([map.revision, map.published, map.compacted]).toEqual([model.revision, model.published, model.compacted]);
  for (let revision = 0; revision <= model.revision; revision++) {
    if (revision > model.published) {
      expect(() => map.list('', { revision })).toThrow(RevisionFutureError);
    } else if (revision < model.compacted) {
      expect(() => map.list('', { revision })).toThrow(RevisionCompactedError);
    } else {
      const rows = model.at(revision);
      expect(map.list('', { revision }).items.map(row)).toEqual(rows);
      for (const prefix of ['', 'a/']) {
        const all = rows.filter((each) => each?.key.startsWith(prefix) === true).length;
        const page = map.list(prefix, { revision, limit: 1, countRemaining: true });
        expect([page.more, page.remaining]).toEqual([all > 1, Math.max(0, all - 1)]);
      }
    }
  }
  for (let revision = model.compacted + 1; revision <= model.published; revision++) {
    const change = model.log[revision - 1];
    const event = eventOf(map.change(revision));
    expect(event.key).toBe(change?.key);
    expect(event.revision).toBe(revision);
    expect(event.type).toBe(change?.value === undefined ? 'DELETE' : 'PUT');
    expect(event.current?.value).toEqual(change?.value);
    expect(event.current?.modRevision).toBe(change?.value === undefined ? undefined : revision);
    expect(event.createRevision).toBe(change?.createRevision);
    expect(row(event.previous)).toEqual(model.states[revision - 1]?.get(event.key));
  }
}

function expectDecision(decision: WriteDecision, expected: Row | undefined, written: boolean): void {
  expect(decision.outcome).toBe(written ? 'written' : 'refused');
  if (decision.outcome === 'refused') expect(row(decision.current)).toEqual(expected);
}

/** The guard a client would send: usually right, sometimes stale or invented. */
const guard = fc.constantFrom('right' as const, 'stale' as const);
const key = fc.constantFrom('a', 'a/1', 'a/2', 'b');

class Write implements fc.Command<Model, Real> {
  readonly op: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly guard: 'right' | 'stale';
  constructor(op: 'create' | 'update' | 'delete', k: string, g: 'right' | 'stale') {
    this.op = op;
    this.key = k;
    this.guard = g;
  }
  check(): boolean {
    return true;
  }
  run(model: Model, real: Real): void {
    const { map } = real;
    const current = model.pending.get(this.key);
    const expected =
      this.guard === 'right' ? (current?.modRevision ?? 99) : Math.max(0, (current?.modRevision ?? 1) - 1);
    const value = `v${model.revision + 1}`;
    if (this.op === 'create') {
      const decision = map.create(this.key, bytes(value));
      expectDecision(decision, current, current === undefined);
      if (current === undefined) this.#took(model, real, decision, value);
    } else if (this.op === 'update') {
      const decision = map.update(this.key, bytes(value), expected);
      const right = current?.modRevision === expected;
      expectDecision(decision, current, right);
      if (right) this.#took(model, real, decision, value);
    } else {
      const decision = map.delete(this.key, expected);
      const right = current?.modRevision === expected;
      expectDecision(decision, current, right);
      if (right) {
        expect(decision.outcome === 'written' && row(decision.removed)).toEqual(current);
        this.#took(model, real, decision, undefined);
      }
    }
  }
  #took(model: Model, { journal }: Real, decision: WriteDecision, value: string | undefined): void {
    const written = model.write(this.key, value);
    if (decision.outcome !== 'written') return;
    const { change } = decision;
    journal.set(change.modRevision, change);
    if (written !== undefined) expect(change).toMatchObject({ key: this.key, modRevision: written.modRevision });
  }
  toString(): string {
    return `${this.op}(${this.key}, ${this.guard})`;
  }
}

class Publish implements fc.Command<Model, Real> {
  readonly share: number;
  constructor(share: number) {
    this.share = share;
  }
  check(): boolean {
    return true;
  }
  run(model: Model, { map }: Real): void {
    model.published += Math.round((model.revision - model.published) * this.share);
    map.publish(model.published);
  }
  toString(): string {
    return `publish(${this.share})`;
  }
}

class RollBack implements fc.Command<Model, Real> {
  check(): boolean {
    return true;
  }
  run(model: Model, { map, journal }: Real): void {
    for (let revision = model.revision; revision > model.published; revision--) journal.delete(revision);
    model.states.length = model.published + 1;
    model.log.length = model.published;
    map.rollBack();
    compare(model, { map });
  }
  toString(): string {
    return 'roll back';
  }
}

/** The last digit of a value as the only bit of its signature. */
const signatureOf = (value: Uint8Array): LabelSignature => ({ low: 1 << (value.at(-1)! & 7), high: 0 });

/** Reads the values with one bit, at a revision that may be read. */
class Select implements fc.Command<Model, Real> {
  readonly share: number;
  readonly bit: number;
  readonly limit: number;
  constructor(share: number, bit: number, limit: number) {
    this.share = share;
    this.bit = bit;
    this.limit = limit;
  }
  check(): boolean {
    return true;
  }
  run(model: Model, { map }: Real): void {
    const revision = model.compacted + Math.round((model.published - model.compacted) * this.share);
    const labels = { low: 1 << this.bit, high: 0 };
    const all = model.at(revision);
    const found: string[] = [];
    let start: string | undefined = '';
    while (start !== undefined) {
      const page: ListResult = map.list('', { revision, labels, start, limit: this.limit });
      for (const kv of page.items) expect(all).toContainEqual(row(kv));
      found.push(...page.items.map((kv) => kv.key));
      const last = page.items.at(-1)?.key;
      start = page.more ? (page.next ?? `${last}\0`) : undefined;
    }
    expect(found).toEqual(found.toSorted());
    const wanted = all.filter(({ value }) => mayHave(signatureOf(bytes(value)), labels));
    expect(found).toEqual(expect.arrayContaining(wanted.map((each) => each.key)));
    selected.passedOver += all.length - found.length;
  }
  toString(): string {
    return `select(${this.share}, ${this.bit}, ${this.limit})`;
  }
}

const selected = { passedOver: 0 };

class Compact implements fc.Command<Model, Real> {
  readonly share: number;
  readonly drop: number;
  constructor(share: number, drop: number) {
    this.share = share;
    this.drop = drop;
  }
  check(): boolean {
    return true;
  }
  run(model: Model, real: Real): void {
    model.compacted += Math.round((model.published - model.compacted) * this.share);
    real.map.compact(model.compacted);
    const { dropped } = real.map.dropHistory(this.drop);
    real.journaled = model.compacted;
    for (const revision of dropped) {
      expect(real.journal.delete(revision)).toBe(true);
      compare(afterRestart(model), restored(real));
    }
  }
  toString(): string {
    return `compact(${this.share}, ${this.drop})`;
  }
}

class Restart implements fc.Command<Model, Real> {
  check(model: Readonly<Model>): boolean {
    return model.published === model.revision;
  }
  run(_: Model, real: Real): void {
    const { map, forget } = restored(real);
    for (const revision of forget) real.journal.delete(revision);
    real.map = map;
  }
  toString(): string {
    return 'restart';
  }
}

/** A map with slabs so small that values are moved all the time. */
function newMap(): MultiVersionMap {
  return new MultiVersionMap({ ...options, values: new ValueSlabs({ slab: 16, largestShared: 4 }) });
}

function restored({ journal, journaled }: Real): { map: MultiVersionMap; forget: number[] } {
  const map = newMap();
  map.beginRestore(journaled);
  const entries = [...journal.values()].toSorted((a, b) => a.modRevision - b.modRevision);
  const forget = entries.flatMap((entry) => {
    const { value } = entry;
    return map.restore({ ...entry, value: value && map.copyValue(value, 0, value.length) });
  });
  map.endRestore();
  return { map, forget };
}

/** Journaled writes count as published after they are read back. */
function afterRestart(model: Model): Model {
  const after = new Model();
  after.states = model.states;
  after.log = model.log;
  after.published = model.revision;
  after.compacted = model.compacted;
  return after;
}

describe('MultiVersionMap', () => {
  it('API-076, API-093, API-095 behaves like a list of states, also after compaction and restarts', () => {
    const share = fc.constantFrom(0, 0.5, 1);
    const commands = fc.commands(
      [
        fc.tuple(key).map(([k]) => new Write('create', k, 'right')),
        fc.tuple(key, guard).map(([k, g]) => new Write('update', k, g)),
        fc.tuple(key, guard).map(([k, g]) => new Write('delete', k, g)),
        share.map((s) => new Publish(s)),
        fc.tuple(share, fc.constantFrom(1, 2, 100)).map(([s, n]) => new Compact(s, n)),
        fc.constant(new Restart()),
        fc.constant(new RollBack()),
        fc.tuple(share, fc.nat(7), fc.constantFrom(0, 1, 2)).map(([s, bit, limit]) => new Select(s, bit, limit)),
      ],
      { maxCommands: 40, size: '+1' },
    );
    fc.assert(
      fc.property(commands, (cmds) => {
        const model = new Model();
        const real: Real = { map: newMap(), journal: new Map(), journaled: 0 };
        fc.modelRun(() => ({ model, real }), cmds);
        compare(model, real);
      }),
      { numRuns: 300 },
    );
    expect(selected.passedOver).toBeGreaterThan(100);
  });

  it('API-101 values are parsed once, and again when they have changed', () => {
    const looked: string[] = [];
    const map = new MultiVersionMap({
      historyBound: 1000,
      signatureOf: (value) => {
        looked.push(Buffer.from(value).toString());
        return signatureOf(value);
      },
    });
    for (const [k, value] of [
      ['p/a', 'a1'],
      ['p/b', 'b2'],
      ['p/c', 'c1'],
    ] as const) {
      map.create(k, bytes(value));
    }
    map.publish(3);
    const ones = (): string[] => map.list('p/', { labels: { low: 2, high: 0 } }).items.map((kv) => kv.key);
    expect([ones(), ones()]).toEqual([
      ['p/a', 'p/c'],
      ['p/a', 'p/c'],
    ]);
    expect(looked.splice(0)).toEqual(['a1', 'b2', 'c1']);
    map.update('p/b', bytes('B1'), 2);
    // The new version is not published yet: the signature covers both versions, and readers see the old one.
    expect(ones()).toEqual(['p/a', 'p/b', 'p/c']);
    expect(looked.splice(0).toSorted()).toEqual(['B1', 'b2']);
    map.publish(4);
    map.delete('p/a', 1);
    map.publish(5);
    expect(ones()).toEqual(['p/b', 'p/c']);
    expect(looked).toEqual([]);
    expect(map.list('p/', { labels: { low: 2, high: 0 }, revision: 3 }).items.map((kv) => kv.key)).toContain('p/a');
  });

  it('forgets everything a compaction to the present makes superfluous', () => {
    const map = new MultiVersionMap(options);
    map.create('a', bytes('1'));
    map.update('a', bytes('2'), 1);
    map.create('b', bytes('3'));
    map.delete('b', 3);
    map.publish(4);
    map.compact(4);
    expect(map.dropHistory(100)).toEqual({ dropped: [1, 3, 4], more: false });
    expect([map.historyLength, map.historyBytes]).toEqual([0, 0]);
  });

  it('API-096 counts what is left after a page, not what was deleted', () => {
    const map = new MultiVersionMap(options);
    for (const k of ['p/a', 'p/b', 'p/c', 'p/d', 'q']) map.create(k, bytes(k));
    map.delete('p/c', 3);
    map.publish(6);
    const page = map.list('p/', { limit: 1, countRemaining: true });
    expect(page).toMatchObject({ more: true, remaining: 2, revision: 6 });
    expect(map.list('p/', { limit: 1, revision: 5, countRemaining: true }).remaining).toBe(3);
    expect(map.list('p/', { limit: 2, start: 'p/b' })).toMatchObject({ more: false });
    expect(map.list('p/', { limit: 2, start: 'p/b' }).items.map((kv) => kv.key)).toEqual(['p/b', 'p/d']);
  });

  it('API-096 lists and counts after deletions of most, at every revision that can be read', () => {
    const random = seededRandom(7);
    const map = new MultiVersionMap({ ...options, historyBound: 4000 });
    const name = (i: number): string => `p/${String(i).padStart(4, '0')}`;
    const versions = new Map<string, number>();
    const asked = [0, 1, 900, 1500, 1800, 2300, 2499, 2500, 2600, 2779, 2780];
    const seen = new Map<number, string[]>();
    const write = (key: string): void => {
      if (asked.includes(map.revision)) seen.set(map.revision, [...versions.keys()].toSorted());
      const version = versions.get(key);
      if (version === undefined) map.create(key, bytes('v'));
      else map.delete(key, version);
      if (version === undefined) versions.set(key, map.revision);
      else versions.delete(key);
    };
    for (let i = 0; i < 1500; i++) write(name(i));
    // Writes all of the first thousand, then others here and there, some of them twice.
    for (let i = 0; i < 1000; i++) write(name(i));
    for (let i = 0; i < 300; i++) write(name(random.integer(1500)));
    map.publish(2780);
    expect([...seen.keys()]).toEqual(asked);
    for (const [revision, keys] of seen) {
      expect(map.list('p/', { revision }).items.map((kv) => kv.key)).toEqual(keys);
      for (const start of ['', name(3), name(999), name(1200)]) {
        const rest = keys.filter((key) => key >= start);
        const page = map.list('p/', { revision, start, limit: 10, countRemaining: true });
        expect(page.items.map((kv) => kv.key)).toEqual(rest.slice(0, 10));
        expect(page.remaining).toBe(Math.max(0, rest.length - 10));
      }
    }
  });

  it('reports the revision to compact to for the bounds of history', () => {
    const map = new MultiVersionMap(options);
    map.create('a', bytes('x'.repeat(1000)));
    for (let i = 1; i < 100; i++) map.update('a', bytes('x'.repeat(1000)), i);
    map.publish(90);
    const generous = { bytes: 1_000_000, changes: 1000, keep: 10 };
    expect(map.compactionTarget(generous)).toBeUndefined();
    expect(map.compactionTarget({ ...generous, changes: 60 })).toBe(40);
    expect(map.compactionTarget({ ...generous, changes: 0 })).toBe(90);
    expect(map.compactionTarget({ ...generous, changes: 0, keep: 30 })).toBe(70);
    const target = map.compactionTarget({ ...generous, bytes: 60_000 }) ?? 0;
    map.compact(target);
    map.dropHistory(Infinity);
    expect(map.historyBytes).toBeLessThanOrEqual(60_000);
    expect(map.historyBytes).toBeGreaterThan(58_000);
  });

  it('keeps one text of a key, however often it comes with a request', () => {
    const key = `/registry/${'k'.repeat(4000)}`;
    const fresh = (): string => Buffer.from(key).toString();
    const map = new MultiVersionMap({ historyBound: 20_000 });
    map.create(fresh(), bytes('x'));
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 5000; i++) map.update(fresh(), bytes('x'), map.revision);
    map.delete(fresh(), map.revision);
    map.create(fresh(), bytes('x'));
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan((5000 * key.length) / 4);
    expect(map.historyLength).toBe(5003);
  });
});
