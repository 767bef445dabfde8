import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatGroupResource } from '../../api/meta/group-version-kind.ts';
import { clipped, NONE, selectorNotation, textOr, UNSET } from './cell-text.ts';
import { at, booleanAt, conditionOf, isSet, listAt, numberAt, textAt } from './object-fields.ts';
import type { Cell, PrinterColumn } from './printer-column.ts';
import { ageColumn, booleanColumn, column, integerColumn, nameColumn } from './printer-column.ts';

/** Kinds that steer the API server and the scheduler: leases, admission, priority and fairness, aggregation, storage. */

export const leaseColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Holder', 'Who holds the lease.', (lease) => textAt(lease, 'spec', 'holderIdentity')),
  ageColumn,
];

export const leaseCandidateColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('LeaseName', 'Lease that is wanted.', (candidate) => textAt(candidate, 'spec', 'leaseName')),
  column('BinaryVersion', 'Version of the program.', (candidate) => textAt(candidate, 'spec', 'binaryVersion')),
  column('EmulationVersion', 'Version the program behaves as.', (candidate) =>
    textAt(candidate, 'spec', 'emulationVersion'),
  ),
  ageColumn,
];

/** Both webhook configurations. */
export const webhookConfigurationColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Webhooks', 'Number of webhooks.', (object) => listAt(object, 'webhooks').length),
  ageColumn,
];

const paramKindColumn = column('ParamKind', 'Kind of object the policy takes parameters from.', (policy) =>
  isSet(policy, 'spec', 'paramKind')
    ? `${textAt(policy, 'spec', 'paramKind', 'apiVersion')}/${textAt(policy, 'spec', 'paramKind', 'kind')}`
    : UNSET,
);

export const validatingAdmissionPolicyColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Validations', 'Number of rules.', (policy) => listAt(policy, 'spec', 'validations').length),
  paramKindColumn,
  ageColumn,
];

export const mutatingAdmissionPolicyColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Mutations', 'Number of changes.', (policy) => listAt(policy, 'spec', 'mutations').length),
  paramKindColumn,
  ageColumn,
];

/** Both admission policy bindings. */
export const admissionPolicyBindingColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('PolicyName', 'Policy that is put in force.', (binding) => textAt(binding, 'spec', 'policyName')),
  column('ParamRef', 'Object with the parameters.', paramRefCell),
  ageColumn,
];

export const priorityClassColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Value', 'Priority of the pods.', (object) => numberAt(object, 'value')),
  booleanColumn('Global-Default', 'Whether pods without a class get this one.', (object) =>
    booleanAt(object, 'globalDefault'),
  ),
  ageColumn,
  column('PreemptionPolicy', 'Whether pods may displace others.', (object) => textAt(object, 'preemptionPolicy')),
];

export const runtimeClassColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Handler', 'Configuration of the container runtime.', (object) => textAt(object, 'handler')),
  ageColumn,
];

export const flowSchemaColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('PriorityLevel', 'Level that matching requests get.', (schema) =>
    textAt(schema, 'spec', 'priorityLevelConfiguration', 'name'),
  ),
  column('MatchingPrecedence', 'Order in which schemas are tried, low first.', (schema) =>
    numberAt(schema, 'spec', 'matchingPrecedence'),
  ),
  column('DistinguisherMethod', 'How requests are told apart into flows.', (schema) =>
    isSet(schema, 'spec', 'distinguisherMethod') ? textAt(schema, 'spec', 'distinguisherMethod', 'type') : NONE,
  ),
  ageColumn,
  column('MissingPL', 'Whether the priority level is missing.', (schema) => {
    const dangling = conditionOf(listAt(schema, 'status', 'conditions'), 'Dangling');
    return dangling === undefined ? '?' : textAt(dangling, 'status');
  }),
];

export const priorityLevelColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Type', 'Limited or Exempt.', (level) => textAt(level, 'spec', 'type')),
  column('NominalConcurrencyShares', 'Share of the server.', (level) =>
    isSet(level, 'spec', 'limited') ? numberAt(level, 'spec', 'limited', 'nominalConcurrencyShares') : NONE,
  ),
  column('Queues', 'Number of queues.', (level) => queuingCell(level, 'queues')),
  column('HandSize', 'Queues a flow is dealt.', (level) => queuingCell(level, 'handSize')),
  column('QueueLengthLimit', 'Requests a queue holds.', (level) => queuingCell(level, 'queueLengthLimit')),
  ageColumn,
];

export const apiServiceColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Service', 'Service behind the group version, or Local.', (object) =>
    isSet(object, 'spec', 'service')
      ? `${textAt(object, 'spec', 'service', 'namespace')}/${textAt(object, 'spec', 'service', 'name')}`
      : 'Local',
  ),
  column('Available', 'Whether the group version can be asked.', availableCell),
  ageColumn,
];

export const storageVersionColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('CommonEncodingVersion', 'Version all servers store in.', (object) =>
    textOr(UNSET, object, 'status', 'commonEncodingVersion'),
  ),
  column('StorageVersions', 'Version each server stores in.', (object) =>
    clipped(
      listAt(object, 'status', 'storageVersions').map(
        (entry) => `${textAt(entry, 'apiServerID')}=${textAt(entry, 'encodingVersion')}`,
      ),
      { shown: 3, empty: UNSET },
    ),
  ),
  ageColumn,
];

export const storageVersionMigrationColumns: readonly PrinterColumn[] = [
  { ...nameColumn(), format: '' },
  column('Resource', 'Resource that is migrated.', (object) =>
    formatGroupResource({
      group: textAt(object, 'spec', 'resource', 'group'),
      resource: textAt(object, 'spec', 'resource', 'resource'),
    }),
  ),
  column('Status', 'How far the migration is.', (object) => {
    const held = listAt(object, 'status', 'conditions')
      .filter((condition) => textAt(condition, 'status') === 'True')
      .map((condition) => textAt(condition, 'type'))
      .filter((type) => type === 'Running' || type === 'Failed' || type === 'Succeeded');
    return held.at(-1) ?? 'Unknown';
  }),
];

export const podGroupColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Policy', 'How the pods are scheduled together.', (group) =>
    isSet(group, 'spec', 'schedulingPolicy', 'gang') ? 'Gang' : 'Basic',
  ),
  column('Workload', 'Workload the group belongs to.', (group) =>
    isSet(group, 'spec', 'podGroupTemplateRef')
      ? textAt(group, 'spec', 'podGroupTemplateRef', 'workload', 'workloadName')
      : NONE,
  ),
  column('Status', 'How far scheduling is.', (group) => {
    const conditions = listAt(group, 'status', 'conditions');
    const disrupted = conditionOf(conditions, 'DisruptionTarget');
    if (disrupted !== undefined) return textAt(disrupted, 'reason');
    const scheduled = conditionOf(conditions, 'PodGroupScheduled');
    if (scheduled === undefined) return 'Pending';
    return textAt(scheduled, 'status') === 'True' ? 'Scheduled' : 'Unschedulable';
  }),
  ageColumn,
];

/** A request that failed, as a row of its own. */
export const statusColumns: readonly PrinterColumn[] = [
  column('Status', 'Success or Failure.', (status) => textAt(status, 'status')),
  column('Reason', 'Short word for the cause.', (status) => textAt(status, 'reason')),
  column('Message', 'What happened, in a sentence.', (status) => textAt(status, 'message')),
];

function paramRefCell(binding: KubeObject): string {
  const reference = at(binding, 'spec', 'paramRef');
  if (!isSet(reference)) return UNSET;
  const name = textAt(reference, 'name');
  // Whether the kind is namespaced is not known here, so an absent namespace prints as any.
  if (name !== '') return `${textAt(reference, 'namespace') || '*'}/${name}`;
  return isSet(reference, 'selector') ? selectorNotation(at(reference, 'selector'), '<error>') : UNSET;
}

function queuingCell(level: KubeObject, field: string): Cell {
  const path = ['spec', 'limited', 'limitResponse', 'queuing'] as const;
  return isSet(level, ...path) ? numberAt(level, ...path, field) : NONE;
}

function availableCell(object: KubeObject): string {
  const available = conditionOf(listAt(object, 'status', 'conditions'), 'Available');
  if (available === undefined) return 'Unknown';
  const status = textAt(available, 'status');
  const reason = textAt(available, 'reason');
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}
