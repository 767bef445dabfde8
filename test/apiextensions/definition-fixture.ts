import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { Json, TestServer } from '../../src/apiserver/test/test-server.ts';
import { until } from '../program/until.ts';

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export interface VersionOptions {
  readonly name?: string;
  readonly schema?: object;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly extra?: object;
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export function version({ name = 'v1', schema = anything, served = true, storage = true, extra }: VersionOptions = {}) {
  return { name, served, storage, schema: { openAPIV3Schema: schema }, ...extra };
}

export interface DefinitionOptions {
  readonly group?: string;
  readonly names?: object;
  readonly scope?: string;
  readonly versions?: readonly object[];
  readonly spec?: object;
  readonly metadata?: object;
}

/** The definition of `widgets.example.com`, unless the options say otherwise. */
export function definition(options: DefinitionOptions = {}): KubeObject {
  const { group = 'example.com', scope = 'Namespaced', versions = [version()] } = options;
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...options.names };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}`, ...options.metadata },
    spec: { group, scope, names, versions, ...options.spec },
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export function conditionsOf(object: Json): readonly Condition[] {
  return (object['status'] as { conditions?: Condition[] | null } | undefined)?.conditions ?? [];
}

export function conditionOf(object: Json, type: string): Condition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

/** Creates a definition and waits for the condition that tools wait for. */
export async function establish(server: TestServer, object: KubeObject): Promise<Json> {
  const created = await server.post(definitions, object);
  if (created.status !== 201) throw new Error(created.text);
  return established(server, object.metadata?.name ?? '');
}

export function established(server: TestServer, name: string): Promise<Json> {
  return until(`${name} is established`, async () => {
    const { json } = await server.get(`${definitions}/${name}`);
    return conditionOf(json, 'Established')?.status === 'True' ? json : undefined;
  });
}

export const widgets = '/apis/example.com/v1/namespaces/default/widgets';

export function widget(name: string, extra: object = {}): KubeObject {
  const { metadata, ...rest } = extra as KubeObject;
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, ...rest };
}

/** Texts of the `Warning` headers of an answer. */
export function warningsOf(headers: Readonly<Record<string, unknown>>): string[] {
  const value = headers['warning'];
  const list = Array.isArray(value) ? (value as string[]) : value === undefined ? [] : [String(value)];
  return list.map((text) => JSON.parse(/^299 - (".*")$/.exec(text)?.[1] ?? '""') as string);
}
