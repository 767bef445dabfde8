import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';

type PodCertificateDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'terminating' | 'noTime' }
  | { readonly verdict: 'wait'; readonly reason: 'young'; readonly untilMs: number }
  | { readonly verdict: 'delete'; readonly reason: 'old' };

/** The certificate is in the request, and its kubelet reads it within seconds. */
const LIFETIME_MS = 900_000;

/** Decides when a PodCertificateRequest is deleted: 15 minutes after its creation, whatever its state (LIFE-106). `now` in epoch ms. */
export function decidePodCertificateRequest(request: KubeObject | undefined, now: number): PodCertificateDecision {
  if (request === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { creationTimestamp, deletionTimestamp } = request.metadata ?? {};
  if (deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const created = parseTime(creationTimestamp ?? '');
  if (created === undefined) return { verdict: 'nothing', reason: 'noTime' };
  const untilMs = created + LIFETIME_MS;
  return untilMs <= now ? { verdict: 'delete', reason: 'old' } : { verdict: 'wait', reason: 'young', untilMs };
}
