import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { DefaultClasses } from './default-classes.ts';
import type { TableEnvironment } from './table-environment.ts';

/** The older form of an Ingress's class, from before the field. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

interface Ingress extends KubeObject {
  spec?: { ingressClassName?: string };
}

/** Gives an Ingress without a class the default class, if there is one. */
export class DefaultIngressClass implements AdmissionPlugin {
  readonly name = 'DefaultIngressClass';
  readonly operations = ['CREATE'] as const;
  readonly #classes: DefaultClasses;

  constructor(environment: TableEnvironment) {
    this.#classes = new DefaultClasses(environment, {
      group: 'networking.k8s.io',
      resource: 'ingressclasses',
      annotations: ['ingressclass.kubernetes.io/is-default-class'],
    });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  admit({ info, subresource, object }: AdmissionAttributes): void {
    if (info.group !== 'networking.k8s.io' || info.resource !== 'ingresses') return;
    if (subresource !== '' || object === undefined) return;
    const ingress = object as Ingress;
    const annotated = ingress.metadata?.annotations?.[CLASS_ANNOTATION] !== undefined;
    if (ingress.spec?.ingressClassName !== undefined || annotated) return;
    const chosen = this.#classes.default;
    if (chosen !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: chosen };
  }
}
