import { describe, expect, it } from 'vitest';
import { isScalarType, typeInfo, typeNames } from '../../../api/kinds/type-table.ts';
import { describeField } from '../field-description.ts';
import { TYPE_DESCRIPTIONS } from '../own-descriptions.ts';
import { CONDITION_FIELDS } from './any-type.ts';
import { FIELD_TEXTS, TEXT_GROUPS, textKeyOf } from './field-text.ts';

/** The fields that any version of the type has, by key. */
const fields = new Map<string, Set<string>>();
for (const typeName of typeNames()) {
  const known = fields.get(textKeyOf(typeName)) ?? new Set();
  for (const { name } of typeInfo(typeName)?.fields ?? []) known.add(name);
  fields.set(textKeyOf(typeName), known);
}
const entries = Object.entries(FIELD_TEXTS).flatMap(([key, texts]) =>
  Object.entries(texts).map(([field, text]) => ({ key, field, text })),
);

/** Matches a description that only repeats the type or the name of the field. */
const CONTENTLESS =
  /^(?:Required\.\s*)?(?:Text|True or false|Whole number|Number|Bytes|Time|Any object|(?:List|Map|Object)(?: of .*)?)\.$/;
const words = (text: string): string => text.replaceAll(/[^a-zA-Z]/g, '').toLowerCase();

describe('own words for fields', () => {
  it('API-413 are many, and each is about a field that exists', () => {
    expect(entries.length).toBeGreaterThan(1_200);
    const keys = TEXT_GROUPS.flatMap((group) => Object.keys(group));
    expect(keys).toHaveLength(new Set(keys).size);
    expect(entries.filter(({ key, field }) => fields.get(key)?.has(field) !== true)).toEqual([]);
    const ofConditions = [...fields].filter(([key]) => key.endsWith('Condition')).flatMap(([, names]) => [...names]);
    expect(Object.keys(CONDITION_FIELDS).filter((name) => !ofConditions.includes(name))).toEqual([]);
  });

  it('API-413 those of types are about types that exist', () => {
    expect(Object.keys(TYPE_DESCRIPTIONS).filter((typeName) => !typeNames().includes(typeName))).toEqual([]);
    const texts = Object.values(TYPE_DESCRIPTIONS);
    expect(texts.filter((text) => !/^[A-Z].*\.$/.test(text) || CONTENTLESS.test(text))).toEqual([]);
  });

  it('API-413 are sentences that say more than the name', () => {
    const empty = ({ field, text }: (typeof entries)[number]): boolean =>
      !/^[A-Z].*\.$/s.test(text) || CONTENTLESS.test(text) || words(text) === words(field);
    expect(entries.filter(empty)).toEqual([]);
  });

  it('API-413 what nobody described says what the table knows, or nothing', () => {
    const described = typeNames().flatMap((typeName) =>
      (typeInfo(typeName)?.fields ?? []).flatMap((field) => {
        const text = describeField(typeName, field);
        return text === undefined ? [] : [{ where: `${typeName} ${field.name}`, text, name: field.name }];
      }),
    );
    expect(described.length).toBeGreaterThan(2_000);
    expect(described.filter(({ text, name }) => CONTENTLESS.test(text) || words(text) === words(name))).toEqual([]);
    const plain = { number: 1, wire: 'bytes', pointer: false, list: false, map: false, omitempty: true } as const;
    const field = { ...plain, name: 'color', type: 'string', required: true, inline: false, namedList: false };
    expect(isScalarType(field.type)).toBe(true);
    expect(describeField('api/paint/v1.Wall', field)).toBeUndefined();
    expect(describeField('api/paint/v1.Wall', { ...field, default: 'red' })).toBe('Default: red.');
  });

  it('API-413 everything people look up has words: metadata, pods, containers, workloads, services', () => {
    const looked = `
      meta.ObjectMeta meta.OwnerReference meta.LabelSelector meta.LabelSelectorRequirement core.Event coordination.LeaseSpec
      core.PodSpec core.Container core.EphemeralContainer core.Probe core.Volume core.VolumeMount core.EnvVar
      apps.DeploymentSpec apps.ReplicaSetSpec apps.StatefulSetSpec apps.DaemonSetSpec batch.JobSpec batch.CronJobSpec
      core.ServiceSpec core.ServicePort networking.IngressSpec networking.NetworkPolicySpec core.NodeSpec core.ConfigMap core.Secret
      core.PersistentVolumeClaimSpec core.PersistentVolumeSpec policy.PodDisruptionBudgetSpec
      autoscaling.HorizontalPodAutoscalerSpec rbac.PolicyRule rbac.Subject rbac.RoleRef core.ServiceAccount core.NamespaceSpec
      admissionregistration.MutatingWebhook admissionregistration.ValidatingWebhook
      apiextensions.CustomResourceDefinitionSpec apiextensions.CustomResourceDefinitionVersion`.match(/\S+/g);
    const missing = (looked ?? []).flatMap((key) =>
      [...(fields.get(key) ?? ['the type itself'])]
        .filter((field) => !['', 'apiVersion', 'kind', 'metadata'].includes(field))
        .filter((field) => FIELD_TEXTS[key]?.[field] === undefined)
        .map((field) => `${key}.${field}`),
    );
    expect(missing).toEqual([]);
  });
});
