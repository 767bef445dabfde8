import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import { validateAddress, validateNetwork, validateOrdinaryAddress } from '../../validation/ip-address.ts';
import { validateLabels } from '../../validation/labels.ts';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../../validation/names.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, listOfTextsAt, numberAt, objectAt, objectsAt, textAt } from '../fields/defaults-fields.ts';
import { validatePort, validatePortOrName } from './pods/validate-container-ports.ts';
import { invalidFor, validateOptionalText } from '../fields/validate-fields.ts';
import { textsAt } from './pods/validate-pod-spec.ts';
import { validateClusterAddresses } from './validate-service-addresses.ts';

const MAX_AFFINITY_SECONDS = 86_400;
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'";

/** Checks in upstream's order (`ValidateService`). */
export function validateService(service: Fields): FieldError[] {
  const spec = objectAt(service, 'spec') ?? {};
  return [
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(textsAt(spec, 'selector'), 'spec.selector'),
    ...validateAffinitySeconds(spec),
    ...validateClusterAddresses(spec),
    ...validateExternalAddresses(spec),
    ...validateNodePorts(spec),
    ...validateRepeatedPorts(spec),
    ...validateBalancer(spec),
    ...validateExternalTraffic(spec),
  ];
}

function validateType(spec: Fields): FieldError[] {
  const type = textAt(spec, 'type');
  const headless = spec['clusterIP'] === 'None';
  const errors: FieldError[] = [];
  if (objectsAt(spec, 'ports').length === 0 && !headless && type !== 'ExternalName') {
    errors.push(fieldRequired('spec.ports'));
  }
  if (type === 'ExternalName') return [...errors, ...validateExternalName(spec)];
  if (!headless || (type !== 'LoadBalancer' && type !== 'NodePort')) return errors;
  const detail = `may not be set to 'None' for ${type} services`;
  return [...errors, fieldInvalid('spec.clusterIPs[0]', 'None', detail)];
}

function validateExternalName(spec: Fields): FieldError[] {
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  const errors = ['clusterIPs', 'ipFamilies']
    .filter((field) => listOfTextsAt(spec, field).length > 0)
    .concat(isGiven(spec, 'ipFamilyPolicy') ? ['ipFamilyPolicy'] : [])
    .map((field) => fieldForbidden(`spec.${field}`, 'may not be set for ExternalName services'));
  if (name === '') return [...errors, fieldRequired('spec.externalName')];
  return [...errors, ...invalidFor(isDns1123Subdomain(name), 'spec.externalName', name)];
}

function validatePorts(spec: Fields): FieldError[] {
  const ports = objectsAt(spec, 'ports');
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const target = port['targetPort'];
    return [
      ...validatePortName(textAt(port, 'name'), { path, several: ports.length > 1, names }),
      ...validatePort(port['port'], `${path}.port`),
      ...(target === undefined || target === null ? [] : validatePortOrName(target, `${path}.targetPort`)),
      ...validateOptionalText(port, 'appProtocol', { path, check: isQualifiedName }),
    ];
  });
}

function validatePortName(
  name: string,
  among: { readonly path: string; readonly several: boolean; readonly names: Set<string> },
): FieldError[] {
  const path = `${among.path}.name`;
  if (name === '') return among.several ? [fieldRequired(path)] : [];
  const errors = invalidFor(isDns1123Label(name), path, name);
  if (among.names.has(name)) errors.push(fieldDuplicate(path, name));
  among.names.add(name);
  return errors;
}

function validateAffinitySeconds(spec: Fields): FieldError[] {
  const seconds = numberAt(objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds');
  if (spec['sessionAffinity'] !== 'ClientIP' || seconds === undefined) return [];
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return [fieldInvalid(path, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)];
}

function validateExternalAddresses(spec: Fields): FieldError[] {
  return listOfTextsAt(spec, 'externalIPs').flatMap((address, index) => {
    const path = `spec.externalIPs[${index}]`;
    const errors = validateAddress(address, path);
    return errors.length > 0 ? errors : validateOrdinaryAddress(address, path);
  });
}

function validateNodePorts(spec: Fields): FieldError[] {
  const ports = objectsAt(spec, 'ports').map((port, index) => ({ port, path: `spec.ports[${index}].nodePort` }));
  const used = ports.filter(({ port }) => (numberAt(port, 'nodePort') ?? 0) !== 0);
  const seen = new Set<string>();
  const errors =
    spec['type'] === 'ClusterIP'
      ? used.map(({ path }) => fieldForbidden(path, "may not be used when `type` is 'ClusterIP'"))
      : [];
  for (const { port, path } of used) {
    const key = `${textAt(port, 'protocol')}/${String(port['nodePort'])}`;
    if (seen.has(key)) errors.push(fieldDuplicate(path, port['nodePort']));
    seen.add(key);
  }
  return errors;
}

function validateRepeatedPorts(spec: Fields): FieldError[] {
  const numbers = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, { protocol, port }] of objectsAt(spec, 'ports').entries()) {
    const key = `${String(protocol)}/${String(port)}`;
    if (numbers.has(key)) errors.push(fieldDuplicate(`spec.ports[${index}]`, { protocol, port }));
    numbers.add(key);
  }
  return errors;
}

function validateBalancer(spec: Fields): FieldError[] {
  const balanced = spec['type'] === 'LoadBalancer';
  const ranges = listOfTextsAt(spec, 'loadBalancerSourceRanges');
  const errors: FieldError[] = [];
  // The capital letter is upstream's.
  const path = 'spec.LoadBalancerSourceRanges';
  if (ranges.length > 0 && !balanced) errors.push(fieldForbidden(path, ONLY_BALANCED));
  append(
    errors,
    ranges.flatMap((range, index) => validateNetwork(range.trim(), `${path}[${index}]`)),
  );
  if (!balanced) {
    const fields = ['allocateLoadBalancerNodePorts', 'loadBalancerClass'];
    return [
      ...errors,
      ...fields.filter((field) => isGiven(spec, field)).map((field) => fieldForbidden(`spec.${field}`, ONLY_BALANCED)),
    ];
  }
  const balancer = spec['loadBalancerClass'];
  if (typeof balancer !== 'string') return errors;
  return [...errors, ...invalidFor(isQualifiedName(balancer), 'spec.loadBalancerClass', balancer)];
}

function validateExternalTraffic(spec: Fields): FieldError[] {
  const policy = textAt(spec, 'externalTrafficPolicy');
  const path = 'spec.externalTrafficPolicy';
  const type = textAt(spec, 'type');
  const reachable =
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && listOfTextsAt(spec, 'externalIPs').length > 0);
  const errors: FieldError[] = [];
  if (!reachable && policy !== '') {
    errors.push(fieldInvalid(path, policy, 'may only be set for externally-accessible services'));
  } else if (policy !== '' && !TRAFFIC_POLICIES.includes(policy)) {
    errors.push(fieldNotSupported(path, policy, TRAFFIC_POLICIES));
  }
  const checked = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (checked !== 0 && (type !== 'LoadBalancer' || policy !== 'Local')) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(fieldInvalid('spec.healthCheckNodePort', checked, detail));
  }
  return errors;
}
