import type { ResourceInfo } from '../../kinds/resource-info.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { isDns1123Label } from '../../validation/names.ts';
import { type Fields, objectAt, objectsAt } from '../fields/defaults-fields.ts';
import { autoscalerWarnings, jobTtlWarnings, podTtlWarnings } from './warnings-lifecycle.ts';
import { claimSpecWarnings, podWarnings } from './warnings-pod.ts';
import { secretWarnings } from './warnings-secret.ts';

interface KindWarnings {
  readonly onCreate: (object: Fields) => string[];
  /** Warnings of an update. They are given only if the update raises the generation. If absent, updates have no warnings. */
  readonly onChange?: (object: Fields) => string[];
  /** Warnings of every update. */
  readonly onUpdate?: (object: Fields) => string[];
}

/** By `<group>/<resource>`. */
const WARNINGS: Readonly<Record<string, KindWarnings>> = {
  '/persistentvolumeclaims': { onCreate: claimWarnings },
  '/pods': { onCreate: (pod) => [...podWarnings(pod), ...podTtlWarnings(pod)] },
  '/replicationcontrollers': workload(ofTemplate, { named: true }),
  '/secrets': { onCreate: secretWarnings, onUpdate: secretWarnings },
  '/services': { onCreate: serviceWarnings },
  'apps/daemonsets': workload(ofTemplate),
  'apps/deployments': workload(ofTemplate, { named: true }),
  'apps/replicasets': workload(ofTemplate, { named: true }),
  'apps/statefulsets': workload((set) => [...ofTemplate(set), ...claimTemplateWarnings(set)]),
  'autoscaling/horizontalpodautoscalers': { onCreate: autoscalerWarnings },
  'batch/cronjobs': workload(ofCronJob, { named: true }),
  'batch/jobs': workload(ofJob, { named: true }),
  'networking.k8s.io/ingresses': { onCreate: ingressWarnings },
};

/** Warnings about a built-in object that is nevertheless accepted (API-010): registry `WarningsOnCreate`, `WarningsOnUpdate`. */
export function builtinWarnings(
  { group, resource }: Pick<ResourceInfo, 'group' | 'resource'>,
  next: KubeObject,
  previous?: KubeObject,
): readonly string[] {
  const rules = WARNINGS[`${group}/${resource}`];
  if (rules === undefined) return [];
  if (previous === undefined) return rules.onCreate(next);
  if (rules.onUpdate !== undefined) return rules.onUpdate(next);
  return next.metadata?.generation === previous.metadata?.generation ? [] : (rules.onChange?.(next) ?? []);
}

function workload(judge: (object: Fields) => string[], { named = false } = {}): KindWarnings {
  return { onCreate: (object) => [...(named ? nameWarnings(object) : []), ...judge(object)], onChange: judge };
}

function nameWarnings(object: Fields): string[] {
  const problems = isDns1123Label(String(objectAt(object, 'metadata')?.['name'] ?? ''));
  if (problems.length === 0) return [];
  const why = 'this is used in Pod names and hostnames, which can result in surprising behavior';
  return [`metadata.name: ${why}; a DNS label is recommended: [${problems.join(' ')}]`];
}

function ofTemplate(object: Fields): string[] {
  return podWarnings(objectAt(objectAt(object, 'spec'), 'template'), 'spec.template');
}

function ofJob(job: Fields): string[] {
  return ofJobTemplate(objectAt(job, 'spec'), 'spec');
}

function ofCronJob(cronJob: Fields): string[] {
  const job = objectAt(objectAt(objectAt(cronJob, 'spec'), 'jobTemplate'), 'spec');
  return ofJobTemplate(job, 'spec.jobTemplate.spec');
}

function ofJobTemplate(spec: Fields | undefined, path: string): string[] {
  const template = objectAt(spec, 'template');
  return [...podWarnings(template, `${path}.template`), ...jobTtlWarnings(template, `${path}.template`)];
}

function claimTemplateWarnings(set: Fields): string[] {
  return objectsAt(objectAt(set, 'spec'), 'volumeClaimTemplates').flatMap((claim, i) =>
    claimSpecWarnings(objectAt(claim, 'spec'), `spec.volumeClaimTemplates[${i}]`),
  );
}

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';

function claimWarnings(claim: Fields): string[] {
  const old = objectAt(objectAt(claim, 'metadata'), 'annotations')?.[BETA_CLASS];
  const text = `metadata.annotations[${BETA_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`;
  return [...(old === undefined ? [] : [text]), ...claimSpecWarnings(objectAt(claim, 'spec'), 'spec')];
}

function serviceWarnings(service: Fields): string[] {
  const spec = objectAt(service, 'spec') ?? {};
  const [external, headless] = [spec['type'] === 'ExternalName', spec['clusterIP'] === 'None'];
  const addresses = Array.isArray(spec['externalIPs']) && spec['externalIPs'].length > 0;
  const warnings: string[] = [];
  if (headless && (spec['loadBalancerIP'] ?? '') !== '') {
    warnings.push('spec.loadBalancerIP is ignored for headless services');
  }
  if (headless && addresses) warnings.push('spec.externalIPs is ignored for headless services');
  if (headless && spec['sessionAffinity'] !== 'None') {
    warnings.push('spec.SessionAffinity is ignored for headless services');
  }
  if (addresses && !headless && !external) {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  }
  if (external && addresses) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!external && (spec['externalName'] ?? '') !== '') {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  return warnings;
}

const INGRESS_CLASS = 'kubernetes.io/ingress.class';

function ingressWarnings(ingress: Fields): string[] {
  const annotated = objectAt(objectAt(ingress, 'metadata'), 'annotations')?.[INGRESS_CLASS] !== undefined;
  if (!annotated || objectAt(ingress, 'spec')?.['ingressClassName'] !== undefined) return [];
  return [`annotation "${INGRESS_CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
}
