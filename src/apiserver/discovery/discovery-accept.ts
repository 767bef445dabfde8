import { parseAccept } from '../endpoints/negotiation.ts';
import type { AggregatedVersion } from './aggregated-document.ts';

/** Which document the Accept header of a discovery request asks for. */
export type DiscoveryForm =
  | { readonly form: 'legacy' }
  | { readonly form: 'aggregated'; readonly version: AggregatedVersion }
  | { readonly form: 'notAcceptable' };

/**
 * The first clause that can be met wins. Aggregated documents stand at the roots only; an unknown version or kind
 * leaves the choice to the next clause (API-395).
 */
export function negotiateDiscovery(accept: string | undefined, at: 'root' | 'group'): DiscoveryForm {
  if (accept === undefined || accept.trim() === '') return { form: 'legacy' };
  for (const { range, parameters } of parseAccept(accept)) {
    if (range !== 'application/json' && range !== 'application/*' && range !== '*/*') continue;
    const as = parameters.get('as');
    if (as === undefined) {
      if (!parameters.has('g') && !parameters.has('v')) return { form: 'legacy' };
      continue;
    }
    if (at !== 'root' || range !== 'application/json') continue;
    if (as !== 'APIGroupDiscoveryList' || parameters.get('g') !== 'apidiscovery.k8s.io') continue;
    const profile = parameters.get('profile');
    if (profile !== undefined && profile !== 'nopeer') continue;
    const version = parameters.get('v');
    if (version === 'v2' || version === 'v2beta1') return { form: 'aggregated', version };
  }
  return { form: 'notAcceptable' };
}
