import { quoted } from '../../../api/meta/quoted.ts';
import type { Container, PodSpec } from './pod-object.ts';

interface Allowed {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly imagePullSecrets: readonly string[];
}

/** The reason why a pod may not use an account that limits its secrets; undefined if it may. */
export function secretProblem(spec: PodSpec, account: Allowed, containers: 'all' | 'ephemeral'): string | undefined {
  const refused = `is not allowed because service account ${account.name} does not reference that`;
  const inContainers = (list: readonly Container[] | null | undefined, word: string): string[] =>
    (list ?? []).flatMap((container) => [
      ...(container.env ?? [])
        .filter(({ valueFrom }) => isForeign(valueFrom?.secretKeyRef?.name, account.secrets))
        .map(({ name, valueFrom }) => {
          const secret = valueFrom?.secretKeyRef?.name ?? '';
          return `${word} ${container.name ?? ''} with envVar ${name ?? ''} referencing secret.secretName=${quoted(secret)} ${refused} secret`;
        }),
      ...(container.envFrom ?? [])
        .filter(({ secretRef }) => isForeign(secretRef?.name, account.secrets))
        .map(({ secretRef }) => {
          const secret = secretRef?.name ?? '';
          return `${word} ${container.name ?? ''} with envFrom referencing secret.secretName=${quoted(secret)} ${refused} secret`;
        }),
    ]);
  if (containers === 'ephemeral') return inContainers(spec.ephemeralContainers, 'ephemeral container')[0];
  const volumes = (spec.volumes ?? [])
    .filter(({ secret }) => secret !== undefined && isForeign(secret.secretName ?? '', account.secrets))
    .map(({ secret }) => `volume with secret.secretName=${quoted(secret?.secretName ?? '')} ${refused} secret`);
  const pulls = (spec.imagePullSecrets ?? []).flatMap(({ name = '' }, i) =>
    account.imagePullSecrets.includes(name)
      ? []
      : [`imagePullSecrets[${i}].name=${quoted(name)} ${refused} imagePullSecret`],
  );
  const problems = [
    ...volumes,
    ...inContainers(spec.initContainers, 'init container'),
    ...inContainers(spec.containers, 'container'),
    ...pulls,
  ];
  return problems[0];
}

function isForeign(name: string | undefined, allowed: readonly string[]): boolean {
  return name !== undefined && !allowed.includes(name);
}
