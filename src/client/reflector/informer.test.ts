import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newExpired } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import { Informer, type InformerHandler } from './informer.ts';
import { RestClient } from '../rest/rest-client.ts';
import {
  type Answer,
  answerStream,
  bookmark,
  event,
  object,
  PushStream,
  ScriptedServer,
} from '../rest/scripted-server.fixture.ts';

const things = { group: 'example.com', version: 'v1', resource: 'things' };
const end = { initialEventsEnd: true };

function setUp(...answers: Answer[]) {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const server = new ScriptedServer(...answers);
  const client = new RestClient({ transport: inProcessTransport(server.handler), clock, userAgent: 'test' });
  const failures: Error[] = [];
  const informer = new Informer<KubeObject & { color?: string }>({
    client,
    clock,
    random: seededRandom(1),
    logger,
    gvr: things,
    indexers: { color: (o) => (o.color === undefined ? [] : [o.color]) },
    onFailure: (error) => failures.push(error),
  });
  const log: string[] = [];
  const handler: InformerHandler<KubeObject> = {
    added: (o) => log.push(`added ${o.metadata?.name} ${o.metadata?.resourceVersion}`),
    updated: (p, o) =>
      log.push(`updated ${o.metadata?.name} ${p.metadata?.resourceVersion} ${o.metadata?.resourceVersion}`),
    deleted: (o) => log.push(`deleted ${o.metadata?.name} ${o.metadata?.resourceVersion}`),
  };
  const controller = new AbortController();
  const run = (): void => void informer.run(controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort();
    await clock.settle();
  };
  return { clock, informer, handler, log, logger, failures, run, stop, news: () => log.splice(0) };
}

describe('Informer', () => {
  it('keeps objects and calls handlers with every change', async () => {
    const stream = new PushStream();
    const { clock, informer, handler, news, run, stop } = setUp(answerStream(stream));
    informer.addHandler(handler);
    run();
    stream.push(event('ADDED', object({ name: 'a', rv: 1 })) + event('ADDED', object({ name: 'b', rv: 2 })));
    await clock.settle();
    expect([informer.hasSynced, news()]).toEqual([false, ['added a 1', 'added b 2']]);
    stream.push(
      bookmark(3, end) +
        event('MODIFIED', object({ name: 'a', rv: 4 })) +
        event('DELETED', object({ name: 'b', rv: 5 })),
    );
    await clock.settle();
    expect([informer.hasSynced, news()]).toEqual([true, ['updated a 1 4', 'deleted b 5']]);
    expect(informer.get('ns/a')?.metadata?.resourceVersion).toBe('4');
    expect(informer.get('ns/b')).toBeUndefined();
    expect(informer.list().map((o) => o.metadata?.name)).toEqual(['a']);
    await stop();
  });

  it('COL-047 LIFE-004 finds the difference after a new enumeration, and says nothing of what is the same', async () => {
    const first = new PushStream();
    const second = new PushStream();
    const { clock, informer, handler, news, run, stop } = setUp(answerStream(first), answerStream(second));
    informer.addHandler(handler);
    run();
    for (const [name, rv] of [
      ['same', 1],
      ['changed', 2],
      ['gone', 3],
      ['replaced', 4],
    ] as const)
      first.push(event('ADDED', object({ name, rv })));
    first.push(bookmark(5, end) + event('ERROR', newExpired('too old').status));
    await clock.settle();
    news();
    second.push(event('ADDED', object({ name: 'same', rv: 1 })) + event('ADDED', object({ name: 'changed', rv: 8 })));
    const other = object({ name: 'replaced', rv: 9 });
    second.push(event('ADDED', { ...other, metadata: { ...(other['metadata'] as object), uid: 'another' } }));
    await clock.advanceAsync(2000);
    expect(news()).toEqual(['updated changed 2 8', 'deleted replaced 4', 'added replaced 9']);
    second.push(bookmark(10, end));
    await clock.settle();
    expect(news()).toEqual(['deleted gone 3']);
    expect(informer.size).toBe(3);
    await stop();
  });

  it('LIFE-007 takes an update with another uid for a deletion and an addition', async () => {
    const stream = new PushStream();
    const { clock, informer, handler, news, run, stop } = setUp(answerStream(stream));
    informer.addHandler(handler);
    run();
    stream.push(event('ADDED', object({ name: 'a', rv: 1 })) + bookmark(2, end));
    const other = object({ name: 'a', rv: 3 });
    stream.push(event('MODIFIED', { ...other, metadata: { ...(other['metadata'] as object), uid: 'another' } }));
    await clock.settle();
    expect(news()).toEqual(['added a 1', 'deleted a 1', 'added a 3']);
    await stop();
  });

  it('deletes nothing when an enumeration breaks off', async () => {
    const [first, second, third] = [new PushStream(), new PushStream(), new PushStream()];
    const { clock, informer, failures, run, stop } = setUp(
      answerStream(first),
      answerStream(second),
      answerStream(third),
    );
    run();
    first.push(
      event('ADDED', object({ name: 'a', rv: 1 })) + bookmark(5, end) + event('ERROR', newExpired('x').status),
    );
    second.fail();
    await clock.advanceAsync(5000);
    expect([informer.size, failures.length]).toEqual([1, 1]);
    third.push(bookmark(9, end));
    await clock.settle();
    expect(informer.size).toBe(0);
    await stop();
  });

  it('calls a late handler with the known objects, and a removed one no more', async () => {
    const stream = new PushStream();
    const { clock, informer, handler, news, run, stop } = setUp(answerStream(stream));
    run();
    stream.push(event('ADDED', object({ name: 'a', rv: 1 })));
    await clock.settle();
    const remove = informer.addHandler(handler);
    expect(news()).toEqual(['added a 1']);
    remove();
    stream.push(event('ADDED', object({ name: 'b', rv: 2 })));
    await clock.settle();
    expect(news()).toEqual([]);
    await stop();
  });

  it('survives a handler that throws', async () => {
    const stream = new PushStream();
    const { clock, informer, handler, logger, news, run, stop } = setUp(answerStream(stream));
    informer.addHandler({
      added: () => {
        throw new Error('bug');
      },
    });
    informer.addHandler(handler);
    run();
    stream.push(event('ADDED', object({ name: 'a', rv: 1 })) + bookmark(2, end));
    await clock.settle();
    expect([news(), informer.hasSynced]).toEqual([['added a 1'], true]);
    expect(logger.lines.find((l) => l.level === 'error')?.message).toBe('an informer handler failed');
    await stop();
  });

  it('finds objects by index through changes', async () => {
    const stream = new PushStream();
    const { clock, informer, run, stop } = setUp(answerStream(stream));
    run();
    const names = (color: string) => informer.byIndex('color', color).map((o) => o.metadata?.name);
    stream.push(
      event('ADDED', object({ name: 'a', rv: 1, color: 'red' })) +
        event('ADDED', object({ name: 'b', rv: 2, color: 'red' })),
    );
    await clock.settle();
    expect([names('red'), names('blue')]).toEqual([['a', 'b'], []]);
    stream.push(
      event('MODIFIED', object({ name: 'a', rv: 3, color: 'blue' })) +
        event('DELETED', object({ name: 'b', rv: 4, color: 'green' })),
    );
    await clock.settle();
    expect([names('red'), names('blue'), names('green')]).toEqual([[], ['a'], []]);
    await stop();
  });

  it('lets others wait for the first enumeration', async () => {
    const stream = new PushStream();
    const { clock, informer, run, stop } = setUp(answerStream(stream));
    run();
    const live = new AbortController();
    const waits = informer.waitForSync(live.signal);
    const gone = informer.waitForSync(AbortSignal.abort());
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' });
    stream.push(bookmark(2, end));
    await clock.settle();
    await waits;
    await informer.waitForSync(live.signal);
    await stop();
  });
});
