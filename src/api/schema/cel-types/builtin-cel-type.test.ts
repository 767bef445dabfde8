import { expect, it } from 'vitest';
import { createCelEnvironment } from '../../cel/environment/cel-environment.ts';
import { CelCompileError } from '../../cel/cel-error.ts';
import { formatType } from '../../cel/cel-type.ts';
import { kindNames, typeNameOf } from '../../kinds/type-table.ts';
import { builtinCelType } from './builtin-cel-type.ts';

function typeOf(apiVersion: string, kind: string, expression: string): string {
  const object = builtinCelType(typeNameOf(apiVersion, kind) ?? '', kind);
  try {
    return formatType(createCelEnvironment({ variables: { object } }).compile(expression).outputType);
  } catch (error) {
    if (error instanceof CelCompileError) return error.issues.map(({ message }) => message).join();
    throw error;
  }
}

it.each([
  ['apps/v1', 'Deployment', 'object.spec.replicas', 'int'],
  ['apps/v1', 'Deployment', 'object.spec.template.spec.containers[0].image', 'string'],
  ['apps/v1', 'Deployment', 'object.metadata.labels', 'map(string, string)'],
  ['apps/v1', 'Deployment', 'object.metadata.creationTimestamp', 'timestamp'],
  ['apps/v1', 'Deployment', 'object.metadata.namespace', 'string'],
  ['apps/v1', 'Deployment', 'object.spec.strategy.rollingUpdate.maxSurge', 'dyn'],
  ['apps/v1', 'Deployment', 'object.spec.nope', "undefined field 'nope'"],
  ['v1', 'Pod', 'object.spec.containers[0].resources.limits', 'map(string, dyn)'],
  ['v1', 'Secret', 'object.data', 'map(string, bytes)'],
  ['v1', 'Pod', 'object.kind + object.apiVersion', 'string'],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'object.spec.versions[0].schema.openAPIV3Schema.items',
    'dyn',
  ],
])('API-360 %s %s: %s is %s', (apiVersion, kind, expression, type) => {
  expect(typeOf(apiVersion, kind, expression)).toBe(type);
});

it('API-360 every kind has a type', () => {
  for (const [apiVersion, kind] of kindNames()) {
    expect(builtinCelType(typeNameOf(apiVersion, kind) ?? '', kind)).toMatchObject({ kind: 'object', name: kind });
  }
});
