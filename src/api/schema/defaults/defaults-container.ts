import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultResourceRequirements } from './defaults-resources.ts';
import { defaultPullPolicy } from './image-reference.ts';

/** A container of any of the three lists. */
export function defaultContainer(container: Fields): void {
  setIfZero(container, 'imagePullPolicy', defaultPullPolicy(container['image']));
  setIfZero(container, 'terminationMessagePath', '/dev/termination-log');
  setIfZero(container, 'terminationMessagePolicy', 'File');
  ensureObjectAt(container, 'resources');
  defaultResourceRequirements(container);
  for (const port of objectsAt(container, 'ports')) setIfZero(port, 'protocol', 'TCP');
  for (const variable of objectsAt(container, 'env')) {
    const source = objectAt(variable, 'valueFrom');
    defaultFieldRef(source);
    const fileKey = objectAt(source, 'fileKeyRef');
    if (fileKey !== undefined) setIfUnset(fileKey, 'optional', false);
  }
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = objectAt(container, field);
    if (probe !== undefined) defaultProbe(probe);
  }
  const lifecycle = objectAt(container, 'lifecycle');
  defaultHttpGet(objectAt(lifecycle, 'postStart'));
  defaultHttpGet(objectAt(lifecycle, 'preStop'));
}

/** The field reference of an environment variable or a downward API item. */
export function defaultFieldRef(source: Fields | undefined): void {
  const fieldRef = objectAt(source, 'fieldRef');
  if (fieldRef !== undefined) setIfZero(fieldRef, 'apiVersion', 'v1');
}

function defaultProbe(probe: Fields): void {
  setIfZero(probe, 'timeoutSeconds', 1);
  setIfZero(probe, 'periodSeconds', 10);
  setIfZero(probe, 'successThreshold', 1);
  setIfZero(probe, 'failureThreshold', 3);
  defaultHttpGet(probe);
  const grpc = objectAt(probe, 'grpc');
  if (grpc !== undefined) setIfUnset(grpc, 'service', '');
}

function defaultHttpGet(handler: Fields | undefined): void {
  const httpGet = objectAt(handler, 'httpGet');
  if (httpGet === undefined) return;
  setIfZero(httpGet, 'path', '/');
  setIfZero(httpGet, 'scheme', 'HTTP');
}
