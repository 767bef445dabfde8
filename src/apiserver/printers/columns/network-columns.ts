import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatGroupResource } from '../../../api/meta/group-version-kind.ts';
import { NONE, selectorText, textOr } from '../cells/cell-text.ts';
import { at, isSet, listAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';
import { loadBalancerAddresses } from './service-columns.ts';
import { withDefaultMark } from './volume-columns.ts';

export const ingressColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Class', 'Class of controller that serves the ingress.', (ingress) =>
    textOr(NONE, ingress, 'spec', 'ingressClassName'),
  ),
  column('Hosts', 'Host names the rules are for.', hostsCell),
  column('Address', 'Where the ingress is reached.', (ingress) => loadBalancerAddresses(ingress).join(',')),
  column('Ports', 'Ports the ingress listens on.', (ingress) =>
    listAt(ingress, 'spec', 'tls').length === 0 ? '80' : '80, 443',
  ),
  ageColumn,
];

export const ingressClassColumns: readonly PrinterColumn[] = [
  nameColumn((object) => withDefaultMark(object, ['ingressclass.kubernetes.io/is-default-class'])),
  column('Controller', 'Controller that serves ingresses of the class.', (object) =>
    textAt(object, 'spec', 'controller'),
  ),
  column('Parameters', 'Object with settings of the controller.', parametersCell),
  ageColumn,
];

export const networkPolicyColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Pod-Selector', 'Labels of the pods the policy is for.', (policy) =>
    selectorText(at(policy, 'spec', 'podSelector')),
  ),
  ageColumn,
];

export const ipAddressColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('ParentRef', 'Object the address is given to.', parentCell),
];

export const serviceCidrColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('CIDRs', 'Ranges that service addresses are taken from.', (object) =>
    listAt(object, 'spec', 'cidrs').map(String).join(','),
  ),
  ageColumn,
];

const SHOWN_HOSTS = 3;

function hostsCell(ingress: KubeObject): string {
  const rules = listAt(ingress, 'spec', 'rules');
  const hosts: string[] = [];
  for (const rule of rules) {
    if (hosts.length === SHOWN_HOSTS) return `${hosts.join(',')} + ${rules.length - SHOWN_HOSTS} more...`;
    const host = textAt(rule, 'host');
    if (host !== '') hosts.push(host);
  }
  return hosts.join(',') || '*';
}

function parametersCell(object: KubeObject): string {
  if (!isSet(object, 'spec', 'parameters')) return NONE;
  const group = at(object, 'spec', 'parameters', 'apiGroup');
  const kind = textAt(object, 'spec', 'parameters', 'kind');
  const name = textAt(object, 'spec', 'parameters', 'name');
  return typeof group === 'string' ? `${kind}.${group}/${name}` : `${kind}/${name}`;
}

function parentCell(address: KubeObject): string {
  const parent = at(address, 'spec', 'parentRef');
  if (!isSet(parent)) return NONE;
  const resource = formatGroupResource({ group: textAt(parent, 'group'), resource: textAt(parent, 'resource') });
  const namespace = textAt(parent, 'namespace');
  const name = textAt(parent, 'name');
  return [resource.toLowerCase(), ...(namespace === '' ? [] : [namespace]), name].join('/');
}
