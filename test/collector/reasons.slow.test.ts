import { describe, expect, it } from 'vitest';
import { type AnyReason, reasons } from '../../src/collector/types/reasons.ts';
import { defaultIgnoredResources } from '../../src/collector/resources/deletable-resources.ts';
import { EmittedReasons, type Sink } from './emitted-reasons.ts';
import { event, usualKinds, widget } from './kinds.ts';
import { definition, gadget, scenes } from './reason-scenes.ts';
import { Rig } from './rig.ts';
import { scenarios } from './scenarios.ts';

/** Where docs/reasons.md says that the reasons of a section are seen. */
const SINKS: Readonly<Record<keyof typeof reasons, readonly Sink[]>> = {
  queued: ['metrics', 'explain'],
  absence: ['log'],
  events: ['log', 'Events'],
  discovery: ['log'],
  decided: ['log', 'metrics', 'explain'],
  answered: ['log', 'explain'],
};

/** Reasons that appear elsewhere, and why. */
const EXCEPTIONS: Readonly<Partial<Record<AnyReason, { readonly sinks: readonly Sink[]; readonly why: string }>>> = {
  ownerOrphaned: {
    sinks: ['log', 'explain'],
    why: 'the metric counts what was queued, and no dependent is queued to be let go',
  },
};

const sections = Object.entries(reasons) as [keyof typeof reasons, Readonly<Record<string, string>>][];
const catalogue = sections.flatMap(([section, names]) =>
  Object.keys(names).map((name) => ({ name: name as AnyReason, section })),
);
const emitted = new EmittedReasons();
const collecting = {
  onDecision: emitted.onDecision,
  orphanRecords: 'events',
  deletionLimits: { perCause: 40 },
  ignoredResources: [...defaultIgnoredResources, gadget.gvr],
} as const;

describe('what a collector says while it', () => {
  it.each(scenarios)('sees through $name', async ({ serve, custom = [], prepare, steps }) => {
    const rig = await Rig.start({ serve: [...serve, event] });
    for (const kind of custom) rig.serve(kind);
    await prepare(rig);
    await rig.startCollector(collecting);
    await rig.rest();
    for (const step of steps) {
      await step(rig);
      await rig.rest();
    }
    await rig.advance(1000);
    await emitted.gather(rig);
    await rig.stop();
  });

  it.each(Object.entries(scenes))('meets %s', async (_what, play) => {
    const rig = await Rig.start({ serve: [...usualKinds, event] });
    for (const kind of [widget, gadget, definition]) rig.serve(kind);
    let running = await rig.startCollector(collecting);
    await play(rig, async (work) => {
      await running.stop();
      await work();
      running = await rig.startCollector(collecting);
    });
    await rig.advance(1000);
    await emitted.gather(rig);
    await rig.stop();
  });
});

// Behind the scenes: they have filled `emitted`.
describe('the catalogue of reasons and what was said', () => {
  it.each(catalogue)('DESIGN 4 $name ($section) was seen in each place that the page names', ({ name, section }) => {
    const wanted = EXCEPTIONS[name]?.sinks ?? SINKS[section];
    const seen = wanted.filter((sink) => emitted.by[sink].has(name));
    expect(seen).toEqual(wanted);
  });

  it.each(Object.keys(emitted.by) as Sink[])('DESIGN 4 nothing outside of it was seen in %s', (sink) => {
    const names = new Set<string>(catalogue.map(({ name }) => name));
    expect([...emitted.by[sink]].filter((reason) => !names.has(reason))).toEqual([]);
    expect(emitted.by[sink].size).toBeGreaterThan(0);
  });

  const exceptions = Object.entries(EXCEPTIONS).map(([name, exception]) => ({ name, ...exception }));
  it.each(exceptions)('DESIGN 4 $name is an exception still: $why', ({ name, sinks }) => {
    const { section } = catalogue.find((each) => each.name === name) ?? {};
    const missing = section === undefined ? [] : SINKS[section].filter((sink) => !sinks.includes(sink));
    expect(missing).not.toEqual([]);
    for (const sink of missing) expect(emitted.by[sink].has(name)).toBe(false);
  });

  it('explains as done what was done, and nothing else', () => {
    const deleted = emitted.explained.filter(({ did }) => /delete \(/.test(String(did)));
    expect(deleted).toHaveLength(emitted.writes.filter(({ policy }) => policy !== undefined).length);
    for (const { answered } of deleted) expect(answered).toMatch(/\bdeleteAccepted$/);
    const tried = { tried: 'delete (Background)' };
    const refused = { ...tried, did: 'nothing', answered: 'writeRejected', reason: 'writeRejected', again: true };
    const quicker = { ...tried, did: 'forget it', answered: 'objectAbsent', reason: 'ownersAbsent' };
    expect(emitted.explained).toContainEqual(expect.objectContaining({ ...refused, decided: 'ownersAbsent' }));
    expect(emitted.explained).toContainEqual(expect.objectContaining(quicker));
  });

  it('says of each write that failed what it came to, and why it was made', () => {
    // A patch of a dependent, of an orphaned owner, of an ignored object, and a DELETE.
    const why = new Set(emitted.failures.map(({ decided }) => decided));
    const each = ['ownerOrphaned', 'dependentsReleased', 'ignoredResource', 'ownersAbsent'];
    expect([...why]).toEqual(expect.arrayContaining(each));
    const failed: unknown[] = ['writeRejected', 'finalizerConflictsExhausted'];
    for (const fields of emitted.failures) {
      expect(failed).toContain(fields['reason']);
      expect(Object.keys(reasons.decided)).toContain(fields['decided']);
      expect(fields).toMatchObject({ kind: expect.any(String), name: expect.any(String), uid: expect.any(String) });
      // Read by people too: no field is an object.
      expect(Object.values(fields).filter((value) => typeof value === 'object')).toEqual([]);
    }
  });

  it('says of each deletion and patch that was accepted what it was about, and why', () => {
    expect(emitted.writes.length).toBeGreaterThan(50);
    expect(emitted.untold).toEqual([]);
    for (const fields of emitted.writes) {
      const about = { kind: expect.any(String), name: expect.any(String), uid: expect.stringMatching(/./) };
      expect(fields).toMatchObject({ ...about, reason: expect.any(String), answered: expect.any(String) });
      expect(Object.keys(reasons.decided)).toContain(fields['reason']);
    }
  });
});
