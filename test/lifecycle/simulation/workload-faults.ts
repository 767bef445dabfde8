import type { HttpRequest } from '../../../src/base/http-message.ts';
import type { Armed } from '../../collector/simulation/network.ts';
import type { FaultName } from '../../collector/simulation/plan.ts';
import type { WorkloadFaultStep, WorkloadRequest } from './workload-plan.ts';

type Target = Pick<HttpRequest, 'method' | 'target'>;

/** The purpose of a request, and the plural name of its resource. Undefined for requests that no fault strikes. */
export function classifyRequest({ method, target }: Target): { what: WorkloadRequest; resource: string } | undefined {
  const mark = target.indexOf('?');
  const parts = (mark < 0 ? target : target.slice(0, mark)).split('/').slice(1);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [resource = '', name] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
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

/** Faults that wait for the requests of controllers. */
export class ArmedWorkloadFaults implements Armed {
  readonly #waiting: { readonly step: WorkloadFaultStep; left: number }[] = [];

  arm(step: WorkloadFaultStep): void {
    this.#waiting.push({ step, left: step.times });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  strike(request: Target): FaultName | undefined {
    if (this.#waiting.length === 0) return undefined;
    const found = classifyRequest(request);
    if (found === undefined) return undefined;
    const index = this.#waiting.findIndex(
      ({ step: { on, resource } }) =>
        (on === found.what || (on === 'write' && isWrite(found.what))) &&
        (resource === undefined || resource === found.resource),
    );
    const entry = this.#waiting[index];
    if (entry === undefined) return undefined;
    if (--entry.left === 0) this.#waiting.splice(index, 1);
    return entry.step.fault;
  }
}
