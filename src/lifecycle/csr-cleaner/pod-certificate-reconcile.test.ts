import { describe, expect, it } from 'vitest';
import { decidePodCertificateRequest } from './pod-certificate-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const creationTimestamp = '2026-01-01T00:00:00Z';

describe('LIFE-106 a PodCertificateRequest', () => {
  it('goes 15 minutes after its creation, whatever its state', () => {
    const request = { metadata: { name: 'r', creationTimestamp }, status: { conditions: [{ type: 'Issued' }] } };
    const untilMs = START + 15 * 60_000;
    expect(decidePodCertificateRequest(request, untilMs - 1)).toEqual({ verdict: 'wait', reason: 'young', untilMs });
    expect(decidePodCertificateRequest(request, untilMs)).toEqual({ verdict: 'delete', reason: 'old' });
  });

  it.each([
    [undefined, 'gone'],
    [{ metadata: { creationTimestamp, deletionTimestamp: creationTimestamp } }, 'terminating'],
    [{ metadata: {} }, 'noTime'],
  ])('that is %j needs nothing', (request, reason) => {
    expect(decidePodCertificateRequest(request, START + 1e12)).toEqual({ verdict: 'nothing', reason });
  });
});
