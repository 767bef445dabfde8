import { newForbidden, type StatusError } from '../../../api/status-error.ts';
import type { AdmissionAttributes } from './attributes.ts';

/** The 403 of a plug-in in upstream's form, which names the object or its generateName. */
export function admissionForbidden({ info, name, object }: AdmissionAttributes, why: string): StatusError {
  const { name: given = '', generateName = '' } = object?.metadata ?? {};
  return newForbidden(info, name || given || generateName || 'Unknown', why);
}
