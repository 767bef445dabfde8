import type { PeerSubject } from '../../base/http-message.ts';
import { newUnauthorized } from '../../api/status-error.ts';
import type { Authenticator } from './authenticator.ts';
import { EXTRA_CREDENTIAL_ID, type UserInfo, withAuthenticatedGroup } from './user-info.ts';

/** Users by certificate subject: a connection, or an in-process client, has one subject for all its requests. */
const users = new WeakMap<object, UserInfo>();

/**
 * Authenticates client certificates: the common name is the user, organizations are groups, and the fingerprint identifies the credential
 * (API-371). The serving layer verifies the chain and parses the subject. A certificate that it refused counts as invalid credentials, not
 * as none.
 */
export const x509Authenticator: Authenticator = {
  authenticate({ peer }) {
    if (peer === 'refused') throw newUnauthorized();
    if (peer === undefined || peer.commonName === '') return undefined;
    let user = users.get(peer);
    if (user === undefined) {
      user = userOf(peer);
      users.set(peer, user);
    }
    return user;
  },
};

function userOf({ commonName, organizations, uid, fingerprint }: PeerSubject): UserInfo {
  return withAuthenticatedGroup({
    username: commonName,
    groups: organizations,
    ...(uid === undefined ? {} : { uid }),
    ...(fingerprint === undefined ? {} : { extra: { [EXTRA_CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] } }),
  });
}
