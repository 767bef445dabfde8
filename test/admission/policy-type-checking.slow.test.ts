import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { type Json, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());

const deployments = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };

function policy(name: string, spec: object, rule: object = deployments): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [{ operations: ['*'], ...rule }] }, ...spec },
  };
}

function ofExpression(expression: string): object {
  return { validations: [{ expression }] };
}

async function checkingOf(name: string, spec: object, rule?: object): Promise<unknown> {
  const { status, json } = await server.post(policies, policy(name, spec, rule));
  expect([status, json.message]).toEqual([201, undefined]);
  return (json['status'] as unknown as Json)['typeChecking'];
}

it('API-360 what fits the kinds of a policy leaves an empty type checking', async () => {
  const spec = ofExpression("object.spec.replicas <= 5 && object.metadata.name.startsWith('x')");
  expect(await checkingOf('fits', spec)).toEqual({});
});

it('API-360 a field that a kind does not have is warned of, with the expression it stands in', async () => {
  const spec = {
    variables: [{ name: 'replicas', expression: 'object.spec.replicas' }],
    validations: [
      { expression: 'object.spec.nope > 1' },
      { expression: "variables.replicas == 'many'" },
      { expression: 'true', messageExpression: "'' + object.none" },
    ],
  };
  const warning = (text: string): unknown =>
    expect.stringContaining(`apps/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:${text}`);
  expect(await checkingOf('warned', spec)).toEqual({
    expressionWarnings: [
      { fieldRef: 'spec.validations[0].expression', warning: warning("12: undefined field 'nope'") },
      { fieldRef: 'spec.validations[1].expression', warning: warning("20: found no matching overload for '_==_'") },
      { fieldRef: 'spec.validations[2].messageExpression', warning: warning("12: undefined field 'none'") },
    ],
  });
});

it.each([
  ['groups', { apiGroups: ['*'], apiVersions: ['v1'], resources: ['deployments'] }],
  ['versions', { apiGroups: ['apps'], apiVersions: ['*'], resources: ['deployments'] }],
  ['resources', { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*'] }],
  ['subresources', { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] }],
  ['absent', { apiGroups: ['none.example'], apiVersions: ['v1'], resources: ['nones'] }],
])('API-360 rules are not looked into for %s', async (name, rule) => {
  expect(await checkingOf(name, ofExpression('object.spec.nope > 1'), rule)).toEqual({});
});

it('API-360 custom resources are checked by their schema, parameters by their kind', async () => {
  const schema = { type: 'object', properties: { size: { type: 'integer' } } };
  const { status } = await server.post(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.checked.example' },
    spec: {
      group: 'checked.example',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  expect(status).toBe(201);
  const rule = { apiGroups: ['checked.example'], apiVersions: ['v1'], resources: ['things'] };
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      { expression: "object.size > 1 && object.metadata.labels['a'] == 'b' && params.data['a'] == 'b'" },
      { expression: 'object.sise > 1' },
      { expression: 'params.dater.size() > 1' },
    ],
  };
  expect(await checkingOf('custom', spec, rule)).toEqual({
    expressionWarnings: [
      {
        fieldRef: 'spec.validations[1].expression',
        warning: expect.stringContaining(
          "checked.example/v1, Kind=Thing: compilation failed: ERROR: <input>:1:7: undefined field 'sise'",
        ),
      },
      {
        fieldRef: 'spec.validations[2].expression',
        warning: expect.stringContaining("<input>:1:7: undefined field 'dater'"),
      },
    ],
  });
});

it('API-360 the check follows the spec, and nothing else', async () => {
  const wrong = ofExpression('object.spec.nope > 1');
  await checkingOf('followed', wrong);
  const update = async (spec: object, labels: Record<string, string>): Promise<unknown> => {
    const { metadata } = (await server.get(`${policies}/followed`)).json;
    const next = { ...policy('followed', spec), metadata: { ...metadata, labels } };
    return (await server.put(`${policies}/followed`, next)).json.status;
  };
  expect(await update(wrong, { a: 'b' })).toMatchObject({
    observedGeneration: 1,
    typeChecking: { expressionWarnings: [{ fieldRef: 'spec.validations[0].expression' }] },
  });
  const fits = ofExpression('object.spec.replicas > 1');
  expect(await update(fits, {})).toEqual({ observedGeneration: 2, typeChecking: {} });
});
