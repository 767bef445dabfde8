import { describe, expect, it } from 'vitest';
import { MetadataReader } from '../../api/codec/metadata/metadata-reader.ts';
import { newStatusError } from '../../api/status-error.ts';
import { statusErrorOf } from '../../client/codec/status-decoder.ts';
import { TransportError } from '../../client/http/transport.ts';
import type { ApplyOutcome } from '../graph/effect.ts';
import type { GraphEvent, MonitoredResource } from '../types/event.ts';
import { MonitorSink } from './monitor-sink.ts';

const secrets: MonitoredResource = { apiVersion: 'v1', kind: 'Secret', resource: 'secrets' };
const bytesOf = (metadata: object): Uint8Array =>
  Buffer.from(JSON.stringify({ metadata: { name: 'a', uid: 'u', ...metadata } }));

function setUp(resource = secrets, newest = Number.NaN) {
  const told: string[] = [];
  /** The trouble at each report that it changed. */
  const turned: (string | undefined)[] = [];
  /** The outcomes that the graph returns for the next events. */
  const outcomes: ApplyOutcome[] = [];
  const reader = new MetadataReader();
  const sink = new MonitorSink({
    resource,
    read: (bytes, start, end) => {
      reader.read(bytes, start, end);
      return reader;
    },
    apply: (event: GraphEvent) => {
      told.push(event.type);
      return outcomes.shift() ?? 'changed';
    },
    resumesFrom: () => '5',
    newest,
    tell: (event) => {
      if (event.type === 'troubleChanged') turned.push(sink.trouble?.message);
      else if (event.type === 'outage') told.push(event.scope === 'all' ? 'outage' : `outage ${event.scope}`);
      else if (!['listed', 'touched', 'failed'].includes(event.type)) told.push(event.type);
    },
  });
  const show = (verb: 'added' | 'modified' | 'deleted', metadata: object = {}): void => {
    const bytes = bytesOf(metadata);
    sink[verb](bytes, 0, bytes.length);
  };
  /** Returns the outcomes since the last call, and forgets them. */
  const news = (): string[] => told.splice(0);
  return { sink, show, news, turned, outcomes };
}

describe('MonitorSink', () => {
  it('COL-042 turns an enumeration into a list, and what follows into events', () => {
    const { sink, show, news } = setUp();
    sink.replaceBegin();
    show('added');
    sink.replaceEnd('5');
    sink.synced();
    expect(news()).toEqual(['listStarted', 'observedColumns', 'listFinished', 'changed', 'synced']);
    show('added');
    show('modified');
    show('deleted');
    expect(news().filter((each) => each !== 'changed')).toEqual([
      'observedColumns',
      'observedColumns',
      'deletedColumns',
    ]);
    expect(sink.isSynced).toBe(true);
  });

  it('COL-047 concludes nothing from a list that breaks off', () => {
    const { sink, show, news } = setUp();
    sink.replaceBegin();
    show('added');
    sink.replaceAbort();
    sink.replaceBegin();
    sink.replaceEnd('5');
    expect(news()).toEqual(['listStarted', 'observedColumns', 'listStarted', 'listFinished', 'changed']);
  });

  it.each([
    {
      verb: 'added' as const,
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] },
      told: true,
    },
    {
      verb: 'added' as const,
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] },
      told: true,
    },
    { verb: 'added' as const, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x'] }, told: false },
    { verb: 'added' as const, metadata: { finalizers: ['orphan'] }, told: false },
  ])('COL-060 COL-063 an enumeration tells of what waits: $metadata', ({ verb, metadata, told }) => {
    const { sink, show, news } = setUp();
    sink.replaceBegin();
    show(verb, metadata);
    expect(news().includes('waitingListed')).toBe(told);
    sink.replaceEnd('5');
    show(verb, metadata);
    expect(news()).not.toContain('waitingListed');
  });

  it('BETTER-3 reports the first enumeration as one change when it is complete, and each change after it', () => {
    const { sink, show, news } = setUp();
    sink.replaceBegin();
    show('added');
    expect(news()).not.toContain('changed');
    sink.replaceEnd('5');
    sink.synced();
    expect(news().filter((each) => each === 'changed')).toHaveLength(1);
    show('deleted');
    expect(news()).toContain('changed');
  });

  it('BETTER-3 a later enumeration is one change as well, however much it shows', () => {
    const { sink, show, news } = setUp();
    sink.replaceBegin();
    sink.replaceEnd('5');
    sink.synced();
    news();
    sink.replaceBegin();
    for (let i = 0; i < 3; i++) show('added');
    sink.replaceEnd('6');
    expect(news().filter((each) => each === 'changed')).toHaveLength(1);
  });

  it('COL-048 is in trouble from a failure until the server shows anything again', () => {
    const { sink, show, turned } = setUp();
    const recoveries = [
      () => show('modified'),
      () => show('deleted'),
      () => sink.bookmark('6'),
      () => sink.replaceEnd('7'),
    ];
    for (const recover of recoveries) {
      sink.failed(new Error('no'));
      expect(sink.trouble?.message).toBe('no');
      recover();
      expect(sink.trouble).toBeUndefined();
      expect(turned.splice(0)).toEqual(['no', undefined]);
    }
  });

  it('COL-048 COL-002 is in trouble until a list is complete, and reports an outage when that begins', () => {
    const { sink, show, news } = setUp();
    const told = () => news().filter((each) => each === 'outage');
    sink.failed(newStatusError(403, 'no'));
    sink.failed(newStatusError(403, 'still not'));
    expect(told()).toEqual(['outage']);
    sink.replaceBegin();
    show('added');
    expect(sink.trouble?.message).toBe('still not');
    sink.replaceEnd('7');
    expect([sink.trouble, ...told()]).toEqual([undefined]);
    sink.failed(new Error('no'));
    expect(told()).toEqual(['outage']);
  });

  it('COL-111 COL-002 reports an outage each time the server is away, however long it has been in trouble', () => {
    const { sink, news } = setUp();
    sink.failed(newStatusError(403, 'no'));
    news();
    for (const error of [
      new TransportError('reset', 'reset'),
      newStatusError(503, 'away'),
      newStatusError(504, 'late'),
    ]) {
      sink.failed(error);
      expect(news()).toEqual(['outage']);
    }
    sink.failed(newStatusError(429, 'busy'));
    expect(news()).toEqual([]);
  });

  it('COL-111 COL-002 reports an outage beside kube-apiserver, if that says so, but not for the first failure', () => {
    const { sink, news } = setUp({ apiVersion: 'example.com/v1', kind: 'Widget', resource: 'widgets' });
    const away = statusErrorOf(503, { 'audit-id': 'one' }, Buffer.from('service unavailable\n'));
    sink.failed(away);
    sink.failed(away);
    expect(news()).toEqual(['outage', 'outage beside']);
    sink.replaceBegin();
    sink.replaceEnd('7');
    news();
    sink.failed(away);
    sink.failed(new TransportError('reset', 'reset'));
    sink.failed(away);
    expect(news()).toEqual(['outage', 'outage', 'outage beside']);
  });

  it('COL-055 COL-002 reports that history went back when a deletion is taken back, but not again for the objects that are listed because of it', () => {
    const { sink, show, news, outcomes } = setUp();
    const told = () => news().filter((each) => ['historyReset', 'waitingListed', 'changed'].includes(each));
    sink.replaceBegin();
    outcomes.push('wentBack');
    show('added', { deletionTimestamp: '2026-11-25T12:00:00Z', finalizers: ['orphan'] });
    expect(told()).toEqual(['waitingListed']);
    sink.replaceEnd('7');
    sink.synced();
    news();
    outcomes.push('wentBack');
    show('modified');
    expect(told()).toEqual(['historyReset']);
  });

  it('COL-048 has recovered when a list is complete, or a watch shows something; not when an answer began', () => {
    const { sink, show, news } = setUp();
    const told = () => news().filter((each) => each === 'answered' || each === 'recovered');
    sink.failed(new Error('no'));
    for (let attempt = 0; attempt < 3; attempt++) {
      sink.replaceBegin();
      sink.opened(0);
      show('added');
      sink.replaceAbort();
      sink.failed(new Error('no'));
      expect(told()).toEqual([]);
    }
    sink.replaceBegin();
    sink.opened(0);
    sink.replaceEnd('5');
    expect(told()).toEqual(['recovered']);
    for (const recover of [() => show('modified'), () => show('deleted'), () => sink.bookmark('6')]) {
      sink.failed(new Error('no'));
      sink.opened(0);
      expect(told()).toEqual(['answered']);
      recover();
      recover();
      expect(told()).toEqual(['recovered']);
    }
  });

  it('COL-111 reports a watch that goes on after its connection was cut, because an older server may answer', () => {
    const { sink, news } = setUp();
    sink.opened(0);
    sink.cut(new TransportError('reset', 'connection reset by peer'));
    sink.opened(1);
    expect(news().filter((each) => each === 'resumed')).toEqual(['resumed']);
  });

  it('COL-111 reports a watch that goes on after a failure, but no watch without a failure, and no list', () => {
    const { sink, show, news } = setUp();
    const told = () => news().filter((each) => each === 'resumed');
    sink.opened(0);
    expect(told()).toEqual([]);
    sink.failed(new Error('no'));
    sink.replaceBegin();
    sink.opened(0);
    sink.replaceAbort();
    expect(told()).toEqual([]);
    sink.opened(0);
    expect(told()).toEqual(['resumed']);
    show('modified');
    sink.opened(0);
    expect(told()).toEqual([]);
  });

  it('COL-116 COL-111 believes nothing of a watch that began before the server was away, until a later one shows something', () => {
    const { sink, show, news } = setUp();
    sink.replaceEnd('5');
    news();
    sink.suspect(10);
    const shown: (() => void)[] = [() => show('modified'), () => sink.bookmark('6'), () => sink.replaceEnd('7')];
    for (const show of [...shown, () => sink.opened(10)]) {
      show();
      expect([sink.suspectedSince, sink.trouble?.name]).toEqual([10, 'ServerOutageError']);
    }
    expect(news()).not.toContain('recovered');
    sink.opened(11);
    expect([sink.suspectedSince, sink.trouble?.name]).toEqual([undefined, 'ServerOutageError']);
    expect(news()).toEqual(['answered', 'resumed']);
    show('modified');
    expect(sink.trouble).toBe(undefined);
    expect(news()).toContain('recovered');
  });

  it('COL-116 reports a watch that is cut; the next request about the resource is a new one', () => {
    const { sink, news } = setUp();
    sink.replaceEnd('5');
    news();
    sink.suspect(10);
    sink.cut(new TransportError('reset', 'no'));
    expect([news(), sink.suspectedSince]).toEqual([['cut'], undefined]);
    sink.opened(30);
    expect(news()).toEqual(['answered', 'resumed']);
    sink.suspect(20);
    sink.failed(new Error('no'));
    expect([sink.suspectedSince, sink.trouble?.message]).toEqual([undefined, 'no']);
  });

  it.each([
    { versions: ['5', '4'], reset: true },
    { versions: ['5', '5'], reset: false },
    { versions: ['9', '10'], reset: false },
    { versions: ['five', '4'], reset: false },
  ])('notices that the history was replaced: $versions', ({ versions, reset }) => {
    const { sink, news } = setUp();
    for (const version of versions) {
      sink.replaceBegin();
      sink.replaceEnd(version);
    }
    expect(news().includes('historyReset')).toBe(reset);
  });

  it.each([
    { list: '8', reset: true },
    { list: '9', reset: false },
  ])(
    'COL-111 what an earlier monitor has shown counts as a version that was there: $list after 9',
    ({ list, reset }) => {
      const { sink, news } = setUp(secrets, 9);
      sink.replaceBegin();
      sink.replaceEnd(list);
      expect(news().includes('historyReset')).toBe(reset);
    },
  );

  it('a bookmark counts as a version that was there', () => {
    const { sink, news } = setUp();
    sink.replaceEnd('5');
    sink.bookmark('9');
    sink.replaceEnd('8');
    expect(news()).toContain('historyReset');
  });

  it.each(['added', 'modified', 'deleted'] as const)(
    'COL-111 COL-002 what a watch has shown counts as a version that was there: %s',
    (verb) => {
      const { sink, show, news } = setUp();
      sink.replaceEnd('5');
      show(verb, { resourceVersion: '9' });
      show('modified', { resourceVersion: 'none' });
      sink.replaceBegin();
      show('added', { resourceVersion: '4' });
      sink.replaceEnd('8');
      expect(news()).toContain('historyReset');
      sink.replaceBegin();
      show('added', { resourceVersion: '12' });
      sink.replaceEnd('8');
      expect(news()).not.toContain('historyReset');
    },
  );

  it('says nothing any more once it is silenced', () => {
    const { sink, show, news } = setUp();
    sink.failed(new Error('no'));
    sink.bookmark('4');
    news();
    sink.silence();
    sink.failed(new Error('no'));
    sink.replaceBegin();
    show('added');
    show('deleted');
    sink.replaceEnd('5');
    sink.bookmark('6');
    sink.opened(0);
    sink.synced();
    expect([news(), sink.isSynced]).toEqual([[], false]);
  });

  it('throws for bytes that are no object, so that the reflector lists again', () => {
    const { sink } = setUp();
    expect(() => sink.added(Buffer.from('{"metadata":'), 0, 12)).toThrow();
  });
});
