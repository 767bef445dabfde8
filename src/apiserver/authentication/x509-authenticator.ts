import type { Authenticator } from './authenticator.ts';
import { type UserInfo, withAuthenticatedGroup } from './user-info.ts';

/** A connection has one subject for all its requests, and so has a part of this program. */
const users = new WeakMap<object, UserInfo>();

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
    let user = users.get(peer);
    if (user === undefined) {
      user = withAuthenticatedGroup({ username: peer.commonName, groups: peer.organizations });
      users.set(peer, user);
    }
    return user;
  },
};
