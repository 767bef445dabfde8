import type { Authenticator } from './authenticator.ts';
import { withAuthenticatedGroup } from './user-info.ts';

/**
 * Client certificates: common name is the user, organizations are its groups (API-371).
 *
 * The serving layer sets `peer` only for a certificate that verified against the server's own authority; this relies
 * on it and checks no chain. A subject without a common name names nobody and counts as no credentials.
 */
export const x509Authenticator: Authenticator = {
  authenticate(request) {
    const { peer } = request;
    if (peer === undefined || peer.commonName === '') return undefined;
    return withAuthenticatedGroup({ username: peer.commonName, groups: peer.organizations });
  },
};
