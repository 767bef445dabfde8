import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../src/base/http-message.ts';
import { requestRate } from '../../src/cli/flags/request-rate.ts';
import { writeGuard } from '../../src/cli/flags/write-guard.ts';
import { backup } from './backup.ts';
import { answer, type Fault, refuse, resetBefore } from './faults.ts';
import { holdIntake } from './hold.ts';
import { configMap, refTo, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** A server whose backup was restored: objects are again as they were, with the same uids (designs/0011). */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.collecting();
});
afterEach(() => rig.stop());

const HOLD = 'x.io/hold';

describe('an object that is not being deleted any more', () => {
  it('COL-055 COL-001 goes with its owner like any other', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)], finalizers: [HOLD] });
    const restore = await backup(rig, secret, 'd');
    await rig.delete(secret, 'd');
    await rig.rest();
    await restore();
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeDefined();
  });

  it('COL-055 COL-062 is waited for again, and deleted, by an owner that waits', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })], finalizers: [HOLD] });
    const restore = await backup(rig, secret, 'd');
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    await restore();
    await rig.rest();
    expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeDefined();
    expect(await rig.names(configMap)).toEqual(['owner']);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.rest();
    expect([await rig.names(configMap), await rig.names(secret)]).toEqual([[], []]);
  });

  it('COL-002 COL-106 keeps its dependents, with the finalizer that it had before anybody deleted it', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['foregroundDeletion', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    await restore();
    const other = await rig.create(configMap, 'other');
    await rig.create(secret, 'd', { owners: [refTo(owner), refTo(other)] });
    await rig.delete(configMap, 'other');
    await rig.rest();
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['foregroundDeletion', HOLD]);
  });

  it('COL-002 COL-122 does not let its dependents go, though it has the finalizer for it', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['orphan', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // Letting them go fails, and is to be tried again.
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, refuse(403, 'Forbidden'), 1);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    await restore();
    await rig.rest();
    await rig.advance(60_000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual(['orphan', HOLD]);
  });
});

describe('a restored server, before the collector has seen all of it', () => {
  /** Holds the events of ConfigMaps for the collector; the others go on. */
  async function blind(): Promise<() => void> {
    const back = holdIntake(rig, /\/configmaps\?/);
    rig.streams.cut(/\/configmaps\?/);
    await rig.settle();
    return back;
  }

  it.each([
    { policy: 'Background', block: false },
    { policy: 'Foreground', block: true },
  ] as const)(
    'COL-002 COL-055 deletes nothing whose owner lives again, with $policy before',
    async ({ policy, block }) => {
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'd', { owners: [refTo(owner, { block })], finalizers: [HOLD] });
      const restoreOwner = await backup(rig, configMap, 'owner');
      const restoreDependent = await backup(rig, secret, 'd');
      await rig.delete(configMap, 'owner', policy);
      await rig.rest();
      expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeDefined();
      const back = await blind();
      await restoreOwner();
      await restoreDependent();
      await rig.advance(5000);
      expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeUndefined();
      back();
      await rig.advance(60_000);
      expect((await rig.get(secret, 'd'))?.metadata?.deletionTimestamp).toBeUndefined();
      expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    },
  );

  it('COL-002 COL-111 asks for an owner that it knows to be gone, while watches fail', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const restore = await backup(rig, configMap, 'owner');
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(500, 'InternalError'));
    await rig.delete(configMap, 'owner');
    await rig.advance(5000);
    rig.faults.clear();
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
    rig.streams.cut(/\/configmaps\?/);
    await rig.settle();
    await restore();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    rig.faults.clear();
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-002 COL-111 asks for it, though a server beside kube-apiserver is away all the time, and said to be', async () => {
    rig.serve(widget);
    await rig.advance(31_000);
    rig.faults.on({ target: /widgets/ }, () =>
      Promise.resolve(answer(503, 'service unavailable\n', { 'audit-id': 'one' })),
    );
    rig.streams.cut(/widgets/);
    await rig.advance(5000);
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const restore = await backup(rig, configMap, 'owner');
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(403, 'Forbidden'), 3);
    await rig.delete(configMap, 'owner');
    await rig.settle();
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, resetBefore);
    rig.streams.cut(/\/configmaps\?/);
    await restore();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.lines).toContain('GET /api/v1/namespaces/default/configmaps/owner 200');
  });

  it('COL-002 COL-111 does not take what kube-apiserver lacks right after it was away for gone', async () => {
    rig.serve(widget);
    await rig.advance(31_000);
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const passes = rig.recorder.discoveries.length;
    while (rig.recorder.discoveries.length === passes) await rig.advance(1000);
    await rig.advance(25_000);
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, resetBefore, 1);
    await rig.delete(widget, 'owner');
    rig.unserve(widget);
    // There is one pass of discovery in this time, five seconds after the request without an answer.
    await rig.advance(20_000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.advance(90_000);
    expect(await rig.names(secret)).toEqual([]);
  });

  /** An owner that the collector has never seen, gone by now, while its watch fails; and the fault that holds up one answer about it. */
  async function unseenOwner() {
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
    rig.streams.cut(/\/configmaps\?/);
    await rig.settle();
    const owner = await rig.create(configMap, 'owner');
    const restore = await backup(rig, configMap, 'owner');
    await rig.delete(configMap, 'owner');
    let arrive = (): void => {};
    const held: Fault = async (request, next) => {
      const response = await next(request);
      await new Promise<void>((resolve) => (arrive = resolve));
      return response;
    };
    return { owner, restore, held, arrive: () => arrive() };
  }
  const OWNER = { method: 'GET', target: /configmaps\/owner/ };

  it('COL-002 COL-071 COL-111 a read of a uid that began before the server was away proves nothing after it', async () => {
    const { owner, restore, held, arrive } = await unseenOwner();
    rig.faults.on(OWNER, held, 1);
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    // The watch fails once more meanwhile.
    await rig.advance(20_000);
    await restore();
    arrive();
    await rig.advance(5000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
  });

  it('COL-002 COL-114 COL-111 nor does that of an owner, for whoever else refers to it', async () => {
    const { owner, restore, held, arrive } = await unseenOwner();
    const [a, b] = [await rig.create(secret, 'a'), await rig.create(secret, 'b')];
    rig.faults.on(OWNER, refuse(503, 'ServiceUnavailable'));
    await rig.create(secret, 'd', { owners: [refTo(owner), refTo(a)] });
    await rig.create(secret, 'e', { owners: [refTo(owner), refTo(b)] });
    await rig.advance(20_000);
    rig.faults.clear();
    rig.faults.on(OWNER, held, 1);
    rig.faults.on({ method: 'GET', target: /\/configmaps\/owner|\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
    await rig.delete(secret, 'a');
    await rig.settle();
    // The server is away meanwhile, also for another watch.
    rig.faults.on({ method: 'GET', target: /\/secrets\?/ }, refuse(503, 'ServiceUnavailable'), 1);
    rig.streams.cut(/\/secrets\?/);
    await rig.advance(5000);
    await restore();
    arrive();
    await rig.settle();
    rig.faults.clear();
    rig.faults.on({ method: 'GET', target: /\/configmaps\?/ }, refuse(503, 'ServiceUnavailable'));
    await rig.delete(secret, 'b');
    await rig.advance(5000);
    expect(await rig.owners(secret, 'e')).toEqual(['owner']);
  });

  it('COL-002 COL-122 lets no dependent of a living owner go when it tries again', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: ['orphan', HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.faults.on({ method: 'PATCH', target: /secrets/ }, refuse(503, 'ServiceUnavailable'), 1);
    const back = holdIntake(rig, /\/configmaps\?/);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    rig.streams.cut(/\/configmaps\?/);
    await restore();
    await rig.advance(60_000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    back();
    await rig.advance(60_000);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
  });
});

describe('a server that is restored while a round of orphaning waits for its turn', () => {
  it('COL-121 COL-002 lets nobody go any more after a request that got no answer: what was not sent yet is not sent', async () => {
    const owner = await rig.create(configMap, 'owner', { finalizers: [HOLD] });
    const restore = await backup(rig, configMap, 'owner');
    for (let i = 0; i < 8; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    const inTurn = requestRate({ qps: 1, burst: 2 }, rig.clock);
    const guard = writeGuard(() => true);
    const sent: string[] = [];
    // As the collector's client has them: the rate, the guard, and a transport that asks when it sends.
    rig.weather = (request, next) => {
      if (request.method !== 'PATCH') return next(request);
      return inTurn(request, (due) =>
        guard(due, (allowed) => {
          sent.push(allowed.target.split('/').at(-1) ?? '');
          return sent.length === 1 ? resetBefore(allowed, next) : next(allowed);
        }),
      );
    };
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.settle();
    const [lost, answered] = sent;
    expect(sent).toEqual([lost, answered]);
    await restore();
    await rig.advance(60_000);
    expect(sent).toEqual([lost, answered]);
    for (let i = 0; i < 8; i++)
      expect(await rig.owners(secret, `d${i}`)).toEqual(`d${i}` === answered ? [] : ['owner']);
    // For the others the server got no request: there is nothing to report.
    const told = rig.logger.lines.filter(({ message }) => message.includes('failed to orphan a dependent'));
    expect(told.map(({ level, fields }) => [level, fields['name']])).toEqual([['warn', lost]]);
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    for (let i = 0; i < 8; i++) expect(await rig.owners(secret, `d${i}`)).toEqual([]);
  });
});

describe('a restored server behind a watch that stays open', () => {
  /** After a call of the returned function the watch of ConfigMaps sends nothing any more, and does not end. */
  async function silenceable(): Promise<() => void> {
    let silent = false;
    rig.faults.on({ method: 'GET', target: /\/configmaps\?.*watch=true/ }, async (request, next) => {
      const response = await next(request);
      const { body } = response;
      return body instanceof Uint8Array ? response : { ...response, body: chunksUnless(() => silent, body) };
    });
    rig.streams.cut(/\/configmaps\?/);
    await rig.advance(5000);
    return () => {
      silent = true;
    };
  }

  it.each([
    { what: 'no answer', fault: resetBefore },
    { what: 'no answer of the server itself', fault: refuse(503, 'ServiceUnavailable') },
  ])(
    'COL-002 COL-111 asks for the owner of an object for which it got $what, though it saw it go',
    async ({ fault }) => {
      const silence = await silenceable();
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'd', { owners: [refTo(owner)] });
      const restore = await backup(rig, configMap, 'owner');
      rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, fault, 1);
      await rig.delete(configMap, 'owner');
      await rig.settle();
      silence();
      await restore();
      await rig.advance(120_000);
      expect(await rig.names(secret)).toEqual(['d']);
      expect(rig.recorder.lines.slice(-2)).toEqual([
        'GET /api/v1/namespaces/default/secrets/d 200',
        'GET /api/v1/namespaces/default/configmaps/owner 200',
      ]);
    },
  );

  it('COL-002 COL-055 asks for an owner that it believes to wait, in the same case', async () => {
    const silence = await silenceable();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })] });
    const restore = await backup(rig, configMap, 'owner');
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, resetBefore);
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.settle();
    silence();
    await restore();
    rig.faults.clear();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
  });
});

describe('a server that was restored to what it had before it accepted a delete', () => {
  const secrets = /\/secrets\?.*watch=true/;

  /** The watch of Secrets is late from now on. The returned function lets its first event through. */
  async function late(): Promise<() => Promise<void>> {
    let show = (): void => {};
    const shown = new Promise<void>((resolve) => (show = resolve));
    const once: Fault = async (request, next) => {
      const response = await next(request);
      const { body } = response;
      return body instanceof Uint8Array ? response : { ...response, body: firstOnceShown(shown, body, request.signal) };
    };
    rig.faults.on({ method: 'GET', target: secrets }, once, 1);
    // It ends as every watch does after some minutes, which is no failure.
    rig.streams.end(secrets);
    await rig.advance(5000);
    return () => {
      show();
      return rig.settle();
    };
  }

  /** The server accepts the delete, and the restore undoes it: for every client it never happened. */
  async function undoDelete(): Promise<void> {
    const accepted = answer(200, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
    const version = (await rig.get(secret, 'd'))?.metadata?.resourceVersion;
    const target = new RegExp(`secrets/d[?].*resourceVersion=${version}`);
    rig.faults.on({ method: 'DELETE', target }, () => Promise.resolve(accepted), 1);
  }

  /** Its delete was accepted; `show` lets an event from before that delete through. */
  async function isDeletedAgain(show: () => Promise<void>): Promise<void> {
    expect(rig.recorder.writes.at(-1)).toMatchObject({ method: 'DELETE', status: 200 });
    await show();
    expect(await rig.names(secret)).toEqual(['d']);
    rig.faults.on({ target: secrets }, resetBefore, 1);
    rig.streams.cut(secrets);
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual([]);
  }

  it('BETTER-9 COL-001 deletes again when only an older event has come since', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const show = await late();
    await rig.patch(secret, 'd', { labels: { x: 'y' } });
    await undoDelete();
    await rig.delete(configMap, 'owner');
    await rig.settle();
    await isDeletedAgain(show);
  });

  it('BETTER-9 COL-001 deletes again what the graph had not seen before', async () => {
    const owner = await rig.create(configMap, 'owner');
    const show = await late();
    const d = await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await undoDelete();
    await rig.create(configMap, 'dependent', { owners: [refTo(d)], finalizers: [HOLD] });
    await rig.settle();
    await isDeletedAgain(show);
  });
});

describe('a restored server that answers a watch from a version it has not come to yet', () => {
  const watch = /\/configmaps\?.*watch=true/;
  /** As kube-apiserver does: it is open, and has nothing to say. */
  const wordless: Fault = ({ signal }) =>
    Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body: nothingUntil(signal) });
  const questions = () => rig.recorder.intake.filter(({ query }) => query['limit'] === '1');

  async function awayAndBackAt(resourceVersion: string | undefined): Promise<void> {
    rig.faults.on({ target: watch }, resetBefore, 1);
    rig.faults.on({ target: watch }, wordless, 1);
    const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items: [] };
    if (resourceVersion !== undefined) {
      const version: Fault = () => Promise.resolve(answer(200, { ...list, metadata: { resourceVersion } }));
      rig.faults.on({ target: /\/configmaps\?limit=1$/ }, version, 1);
    }
    rig.streams.cut(watch);
    await rig.advance(60_000);
  }

  it('COL-111 COL-002 is asked for its version, once, and then listed anew', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    const before = rig.recorder.intake.length;
    const resources = new Set(rig.recorder.intake.map(({ path }) => path)).size;
    await awayAndBackAt('1');
    expect(questions().map(({ path }) => path)).toEqual(['/api/v1/configmaps']);
    expect(rig.recorder.intake.length).toBeGreaterThanOrEqual(before + resources);
    expect(rig.logger.lines.map(({ message }) => message)).toContain(
      'the resource version went backwards; everything is listed anew',
    );
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-048 is asked once, and goes on, if it is none', async () => {
    await rig.create(configMap, 'owner');
    await rig.rest();
    await awayAndBackAt(undefined);
    expect(questions()).toHaveLength(1);
    expect(rig.logger.lines.filter(({ message }) => message.includes('listed anew'))).toEqual([]);
  });
});

async function* nothingUntil(signal: HttpRequest['signal']): AsyncGenerator<Uint8Array> {
  await new Promise<void>((over) => signal?.addEventListener('abort', () => over(), { once: true }));
  yield* [];
}

async function* chunksUnless(silent: () => boolean, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) if (!silent()) yield chunk;
}

/** Its first chunk waits; the others do as long as the request lasts. */
async function* firstOnceShown(
  shown: Promise<void>,
  body: AsyncIterable<Uint8Array>,
  signal: HttpRequest['signal'],
): AsyncGenerator<Uint8Array> {
  const over = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  let turn = shown;
  for await (const chunk of body) {
    await Promise.race([turn, over]);
    turn = over;
    yield chunk;
  }
}
