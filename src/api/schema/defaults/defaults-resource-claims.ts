import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt, objectsAt, setIfZero } from '../fields/defaults-fields.ts';

function defaultDeviceRequest(request: Fields): void {
  setIfZero(request, 'allocationMode', 'ExactCount');
  if (request['allocationMode'] === 'ExactCount') setIfZero(request, 'count', 1);
}

function defaultClaimSpec(spec: Fields | undefined): void {
  for (const request of objectsAt(objectAt(spec, 'devices'), 'requests')) {
    const exactly = objectAt(request, 'exactly');
    if (exactly !== undefined) defaultDeviceRequest(exactly);
    for (const alternative of objectsAt(request, 'firstAvailable')) defaultDeviceRequest(alternative);
  }
}

export function defaultResourceClaim(claim: Fields): void {
  defaultClaimSpec(objectAt(claim, 'spec'));
}

export function defaultResourceClaimTemplate(template: Fields): void {
  defaultClaimSpec(objectAt(objectAt(template, 'spec'), 'spec'));
}
