import { type MediaType, negotiate, parseAccept } from '../endpoints/negotiation/negotiation.ts';
import type { AggregatedVersion } from './aggregated-document.ts';

/** The format of an unaggregated document. */
export type LegacyForm =
  | { readonly form: 'legacy'; readonly mediaType: MediaType }
  | { readonly form: 'notAcceptable'; readonly message: string };

/** The document that the Accept header of a request selects. */
export type DiscoveryForm = LegacyForm | { readonly form: 'aggregated'; readonly version: AggregatedVersion };

/**
 * The first clause that can be met wins. Aggregated documents exist only at the roots and in JSON; an unknown version or kind passes the
 * choice to the next clause (API-395).
 */
export function negotiateDiscovery(accept: string | undefined): DiscoveryForm {
  const version = aggregatedVersion(accept ?? '');
  return version === undefined ? negotiateLegacy(accept) : { form: 'aggregated', version };
}

export function negotiateLegacy(accept: string | undefined): LegacyForm {
  const anyType = accept?.replaceAll('application/*', '*/*');
  const negotiation = negotiate(anyType, { shape: 'object', custom: false, hasMetadata: false });
  if (negotiation.outcome === 'accepted') return { form: 'legacy', mediaType: negotiation.representation.mediaType };
  return { form: 'notAcceptable', message: negotiation.message };
}

/** Undefined if an earlier clause selects the unaggregated document, or no clause selects the aggregated one. */
function aggregatedVersion(accept: string): AggregatedVersion | undefined {
  for (const { range, parameters } of parseAccept(accept)) {
    const as = parameters.get('as');
    if (as === undefined && LEGACY_RANGES.has(range) && !parameters.has('g') && !parameters.has('v')) return undefined;
    if (as !== 'APIGroupDiscoveryList' || range !== 'application/json') continue;
    if (parameters.get('g') !== 'apidiscovery.k8s.io' || (parameters.get('profile') ?? 'nopeer') !== 'nopeer') continue;
    const version = parameters.get('v');
    if (version === 'v2' || version === 'v2beta1') return version;
  }
  return undefined;
}

const LEGACY_RANGES: ReadonlySet<string> = new Set([
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/*',
  '*/*',
]);
