import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { CascadeRecord } from '../documents/cascade-record.ts';

/** The facts that the writer of a record has before the deletion. */
export type RecordHeader = Pick<CascadeRecord, 'requester' | 'context' | 'roots' | 'policy' | 'plan'>;

/** The recorded body of a removed object. */
export interface RecordedObject {
  readonly body: KubeObject;
  /** A Secret whose data were not recorded (`--no-secrets`). */
  readonly dataOmitted?: true;
}
