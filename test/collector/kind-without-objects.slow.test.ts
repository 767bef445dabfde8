import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { customResource } from '../../src/apiserver/test/custom-resource.ts';
import { refuse } from './faults.ts';
import { configMap, refTo, refToNothing, secret, type TestKind } from './kinds.ts';
import { Rig } from './rig.ts';

/**
 * COL-029: OpenShift serves two resources of kind Template in one version. From `processedtemplates` one gets answers that nobody keeps;
 * the objects are in `templates`.
 */
let rig: Rig;
const group = 'template.openshift.io';
const template: TestKind = {
  gvr: { group, version: 'v1', resource: 'templates' },
  kind: 'Template',
  namespaced: true,
  body: {},
};

function serveWithoutObjects(resource: string): void {
  const { info, strategy } = customResource({ ...template.gvr, ...template });
  rig.server.resources.add({ info: { ...info, resource, verbs: ['create'] }, strategy });
}

beforeEach(async () => {
  rig = await Rig.start({ serve: [configMap, secret] });
});
afterEach(() => rig.stop());

/** Discovery names resources in the order of their names: this one before and behind the one with the objects. */
describe.each(['processedtemplates', 'usedtemplates'])('%s, of the kind that templates have', (without) => {
  beforeEach(() => {
    rig.serve(template);
    serveWithoutObjects(without);
  });

  const wrong = () => rig.recorder.calls.filter(({ path }) => path.includes(without));

  it('COL-101 a deletion in foreground ends, by a patch of the object where it is', async () => {
    await rig.startCollector();
    const owner = await rig.create(template, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })] });
    await rig.delete(template, 'owner', 'Foreground');
    await rig.rest();
    expect([await rig.names(template), await rig.names(secret)]).toEqual([[], []]);
    expect(rig.recorder.lines.filter((line) => line.startsWith('PATCH'))).toEqual([
      `PATCH /apis/${group}/v1/namespaces/default/templates/owner 200`,
    ]);
    expect(wrong()).toEqual([]);
  });

  it('COL-114 an owner that no watch shows is looked for among the objects', async () => {
    const owner = await rig.create(template, 'owner');
    await rig.create(secret, 'lives', { owners: [refTo(owner)] });
    await rig.create(secret, 'goes', { owners: [refToNothing(template, 'never')] });
    rig.faults.on({ target: /\/templates\?/ }, refuse(403, 'Forbidden'));
    await rig.startCollector();
    await rig.advance(60_000);
    expect(await rig.names(secret)).toEqual(['lives']);
    expect(wrong()).toEqual([]);
  });
});
