import { describe, expect, it } from 'vitest';
import {
  fieldOf,
  fieldsOf,
  isScalarType,
  isSpecialType,
  kindNames,
  structFieldsOf,
  typeInfo,
  typeNameOf,
  typeNames,
} from './type-table.ts';

describe('type table', () => {
  it('every field leads to a struct of the table, a scalar or a special type', () => {
    for (const typeName of typeNames()) {
      for (const field of structFieldsOf(typeName)) {
        const known = isScalarType(field.type) || isSpecialType(field.type) || typeInfo(field.type) !== undefined;
        expect(known, `${typeName}.${field.name}: ${field.type}`).toBe(true);
        expect(field.name !== '' || field.inline, `${typeName}: a field without a name`).toBe(true);
      }
    }
  });

  it('every kind has a type that says kind and apiVersion', () => {
    for (const [apiVersion, kind] of kindNames()) {
      const typeName = typeNameOf(apiVersion, kind)!;
      expect(fieldOf(typeName, 'kind')?.type, `${apiVersion} ${kind}`).toBe('string');
      expect(fieldOf(typeName, 'apiVersion')?.type).toBe('string');
    }
  });

  it('expands inline structs for JSON and keeps them for protobuf', () => {
    const volume = 'api/core/v1.Volume';
    expect(structFieldsOf(volume).map((field) => field.name)).toEqual(['name', '']);
    expect(
      fieldsOf(volume)
        .slice(0, 2)
        .map((field) => field.name),
    ).toEqual(['name', 'hostPath']);
    expect(fieldOf('api/core/v1.Probe', 'exec')?.type).toBe('api/core/v1.ExecAction');
  });

  it('has the facts strategic merge and apply need', () => {
    expect(fieldOf('api/core/v1.PodSpec', 'containers')).toMatchObject({
      list: true,
      patchStrategy: 'merge',
      patchMergeKey: 'name',
      listType: 'map',
      listMapKeys: ['name'],
    });
    expect(fieldOf('api/core/v1.PodSpec', 'volumes')?.patchStrategy).toBe('merge,retainKeys');
    expect(typeInfo('api/core/v1.ObjectReference')?.mapType).toBe('atomic');
  });

  it('API-521 distinguishes pointers from values and omitempty from always', () => {
    expect(fieldOf('api/apps/v1.DeploymentSpec', 'replicas')).toMatchObject({ pointer: true, omitempty: true });
    expect(fieldOf('api/apps/v1.ReplicaSetStatus', 'replicas')).toMatchObject({ pointer: false, omitempty: false });
  });

  it('API-522 wire types follow the value, not the struct tag', () => {
    expect(fieldOf('apimachinery/pkg/apis/meta/v1.ListMeta', 'remainingItemCount')?.wire).toBe('varint');
    expect(fieldOf('apimachinery/pkg/apis/meta/v1.DeleteOptions', 'propagationPolicy')?.wire).toBe('bytes');
    expect(fieldOf('apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps', 'maximum')?.wire).toBe(
      'fixed64',
    );
    expect(fieldOf('api/authentication/v1.UserInfo', 'extra')).toMatchObject({
      map: true,
      list: true,
      namedList: true,
    });
  });

  it('API-240 DeleteOptions may name any group version', () => {
    const expected = 'apimachinery/pkg/apis/meta/v1.DeleteOptions';
    expect(typeNameOf('v1', 'DeleteOptions')).toBe(expected);
    expect(typeNameOf('meta.k8s.io/v1', 'DeleteOptions')).toBe(expected);
    expect(typeNameOf('apps/v1', 'DeleteOptions')).toBe(expected);
    expect(typeNameOf('v1', 'Status')).toBe('apimachinery/pkg/apis/meta/v1.Status');
    expect(typeNameOf('apps/v1', 'Status')).toBeUndefined();
    expect(typeNameOf('v1', 'Nonsense')).toBeUndefined();
  });

  it('knows nothing about types that do not exist', () => {
    expect(fieldsOf('string')).toEqual([]);
    expect(fieldsOf('api/core/v1.Nonsense')).toEqual([]);
    expect(fieldOf('Time', 'seconds')).toBeUndefined();
  });
});
