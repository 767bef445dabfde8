import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { humanDuration } from '../../../api/meta/duration.ts';
import { labelsText, NONE } from '../cells/cell-text.ts';
import { isSet, listAt, mapAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

export const certificateSigningRequestColumns: readonly PrinterColumn[] = [
  nameColumn(),
  ageColumn,
  column('SignerName', 'Signer that should sign.', signerCell),
  column('Requestor', 'Who asks.', (request) => textAt(request, 'spec', 'username')),
  column('RequestedDuration', 'How long the certificate should be valid.', (request) =>
    isSet(request, 'spec', 'expirationSeconds')
      ? humanDuration(numberAt(request, 'spec', 'expirationSeconds') * 1000)
      : NONE,
  ),
  column('Condition', 'State of the request.', requestCondition),
];

export const clusterTrustBundleColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('SignerName', 'Signer the anchors belong to.', signerCell),
];

export const podCertificateRequestColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('PodName', 'Pod the certificate is for.', (request) => textAt(request, 'spec', 'podName')),
  column('ServiceAccountName', 'Service account of the pod.', (request) =>
    textAt(request, 'spec', 'serviceAccountName'),
  ),
  column('NodeName', 'Node of the pod.', (request) => textAt(request, 'spec', 'nodeName')),
  column('SignerName', 'Signer that should sign.', (request) => textAt(request, 'spec', 'signerName')),
  column('State', 'State of the request.', (request) => {
    const ended = listAt(request, 'status', 'conditions')
      .map((condition) => textAt(condition, 'type'))
      .filter((type) => type === 'Issued' || type === 'Denied' || type === 'Failed');
    return ended.at(-1) ?? 'Pending';
  }),
  column('UnverifiedUserAnnotations', 'Notes of the requester to the signer.', (request) =>
    labelsText(mapAt(request, 'spec', 'unverifiedUserAnnotations')),
  ),
];

function signerCell(object: KubeObject): string {
  return textAt(object, 'spec', 'signerName') || NONE;
}

/** A condition counts with any status, as upstream. */
function requestCondition(request: KubeObject): string {
  const types = new Set(listAt(request, 'status', 'conditions').map((condition) => textAt(condition, 'type')));
  const parts = [types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending'];
  if (types.has('Failed')) parts.push('Failed');
  if (textAt(request, 'status', 'certificate') !== '') parts.push('Issued');
  return parts.join(',');
}
