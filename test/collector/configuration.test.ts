import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from './faults.ts';
import { configMap, refTo, refToNothing, secret, type TestKind, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** Objects that change what is served, or what is accepted, for all others. */
const definition: TestKind = {
  kind: 'CustomResourceDefinition',
  gvr: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  namespaced: false,
  body: {},
};
const webhook: TestKind = {
  kind: 'ValidatingWebhookConfiguration',
  gvr: { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' },
  namespaced: false,
  body: {},
};

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  // Served as plain objects: what they do to a server is done by the test.
  rig.serve(definition);
  rig.serve(webhook);
  await rig.startCollector();
  await rig.advance(2000);
});
afterEach(() => rig.stop());

describe('a definition of resources', () => {
  it('COL-030 BETTER-3 its objects take part within two seconds', async () => {
    rig.serve(widget);
    await rig.create(definition, 'widgets.example.com');
    await rig.create(widget, 'd', { owners: [refToNothing(configMap, 'never')] });
    await rig.advance(2000);
    expect(await rig.names(widget)).toEqual([]);
  });

  it('BETTER-3 many changes at once cost few looks at discovery', async () => {
    const before = rig.recorder.discoveries.length;
    for (let i = 0; i < 20; i++) await rig.create(definition, `d${i}`);
    await rig.advance(2000);
    expect(rig.recorder.discoveries.length - before).toBeLessThanOrEqual(4);
  });

  it('COL-030 BETTER-3 takes part as soon when it was made after the first look and before the first list', async () => {
    let made = 'not yet';
    rig.faults.on({ method: 'GET', target: /customresourcedefinitions/ }, async (request, next) => {
      if (made === 'not yet') {
        made = 'now';
        rig.serve(widget);
        await rig.create(definition, 'widgets.example.com');
      }
      return next(request);
    });
    await rig.withoutCollector(() => Promise.resolve());
    await rig.create(widget, 'd', { owners: [refToNothing(configMap, 'never')] });
    await rig.advance(2000);
    expect([made, await rig.names(widget)]).toEqual(['now', []]);
  });

  it('BETTER-3 the first list costs one more look, and no more', async () => {
    await rig.create(definition, 'widgets.example.com');
    await rig.withoutCollector(() => Promise.resolve());
    await rig.advance(20_000);
    expect(rig.recorder.discoveries).toHaveLength(4);
  });
});

describe('a configuration of admission', () => {
  it('COL-085 BETTER-8 has refused writes tried again soon', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.create(webhook, 'denies');
    rig.faults.on({ method: 'DELETE', target: /secrets\/d/ }, refuse(403, 'Forbidden'));
    await rig.delete(configMap, 'owner');
    await rig.advance(200_000);
    rig.faults.clear();
    await rig.delete(webhook, 'denies');
    await rig.advance(2000);
    expect(await rig.names(secret)).toEqual([]);
  });
});
