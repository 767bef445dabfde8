import { newForbidden, type StatusError } from '../../../api/status-error.ts';
import type { AdmissionAttributes } from './attributes.ts';

/** The 403 of a plug-in, in upstream's form: about the object by its name, or what it is to be generated from. */
export function admissionForbidden({ info, name, object }: AdmissionAttributes, why: string): StatusError {
  const { name: given = '', generateName = '' } = object?.metadata ?? {};
  return newForbidden(info, name || given || generateName || 'Unknown', why);
}
