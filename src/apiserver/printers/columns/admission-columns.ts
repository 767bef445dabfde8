import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { selectorNotation, UNSET } from '../cells/cell-text.ts';
import { at, isSet, listAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, integerColumn, nameColumn } from '../cells/printer-column.ts';

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

function paramRefCell(binding: KubeObject): string {
  const reference = at(binding, 'spec', 'paramRef');
  if (!isSet(reference)) return UNSET;
  const name = textAt(reference, 'name');
  // The scope of the kind is not known here, so an absent namespace prints as any.
  if (name !== '') return `${textAt(reference, 'namespace') || '*'}/${name}`;
  return isSet(reference, 'selector') ? selectorNotation(at(reference, 'selector'), '<error>') : UNSET;
}
