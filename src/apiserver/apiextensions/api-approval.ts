import type { Condition } from '../../api/meta/conditions.ts';
import type { FieldError } from '../../api/field-error.ts';
import { fieldInvalid, fieldRequired } from '../../api/field-error.ts';
import { quoted } from '../../api/meta/quoted.ts';
import type { Definition } from './definition.ts';

/** The annotation that definitions in Kubernetes' own groups must have (API-452; apiextensions `apihelpers`). */
const ANNOTATION = 'api-approved.kubernetes.io';
const PATH = `metadata.annotations[${ANNOTATION}]`;
const CONDITION = 'KubernetesAPIApprovalPolicyConformant';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

type Approval = 'approved' | 'bypassed' | 'missing' | 'invalid';

function isProtected(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

function approvalOf({ metadata }: Definition): { readonly state: Approval; readonly reason: string } {
  const text = metadata?.annotations?.[ANNOTATION] ?? '';
  const must = `protected groups must have approval annotation ${quoted(ANNOTATION)}`;
  if (text === '') return { state: 'missing', reason: `${must}, ${SEE}` };
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quoted(text)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/\s]+/.test(text)) return { state: 'approved', reason: `approved in ${text}` };
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${SEE}` };
}

/** An update may keep the stored state. */
export function validateApproval(definition: Definition, previous?: Definition): FieldError[] {
  if (!isProtected(definition.spec.group)) return [];
  const { state, reason } = approvalOf(definition);
  if (previous !== undefined && approvalOf(previous).state === state) return [];
  if (state === 'missing') return [fieldRequired(PATH, reason)];
  return state === 'invalid' ? [fieldInvalid(PATH, definition.metadata?.annotations?.[ANNOTATION] ?? '', reason)] : [];
}

const REASONS: Readonly<Record<Approval, string>> = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation',
};

/** Undefined for groups that need no approval. */
export function approvalCondition(definition: Definition): Condition | undefined {
  if (!isProtected(definition.spec.group)) return undefined;
  const { state, reason } = approvalOf(definition);
  return {
    type: CONDITION,
    status: state === 'approved' ? 'True' : 'False',
    reason: REASONS[state],
    message: reason,
  };
}
