import type { HttpRequest } from '../../../src/base/http-message.ts';
import { placeOf } from '../../collector/simulation/request-class.ts';
import type { WorkloadFaultStep, WorkloadRequest } from './workload-plan.ts';

type Target = Pick<HttpRequest, 'method' | 'target'>;

/** The purpose of a request, and the plural name of its resource. Undefined for requests that no fault strikes. */
function classifyRequest({ method, target }: Target): { what: WorkloadRequest; resource: string } | undefined {
  const { resource, name } = placeOf(target);
  if (resource === '' || resource === 'events' || resource === 'leases') return undefined;
  switch (method) {
    case 'GET':
      return { what: name === undefined ? 'list' : 'read', resource };
    case 'POST':
      return { what: 'create', resource };
    case 'PUT':
      return { what: 'update', resource };
    case 'PATCH':
      return { what: 'patch', resource };
    default:
      return { what: 'delete', resource };
  }
}

const isWrite = (what: WorkloadRequest): boolean => what !== 'read' && what !== 'list';

/** Whether a fault of the plan is meant for a request. */
export function meantForWorkload({ on, resource }: Pick<WorkloadFaultStep, 'on' | 'resource'>) {
  return (request: Target): boolean => {
    const found = classifyRequest(request);
    return (
      found !== undefined &&
      (on === found.what || (on === 'write' && isWrite(found.what))) &&
      (resource === undefined || resource === found.resource)
    );
  };
}
