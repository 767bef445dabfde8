import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Strategy } from '../strategy.ts';

interface SigningRequest extends KubeObject {
  spec?: Record<string, unknown>;
  status?: { conditions?: unknown };
}

/** Who asks is written down by the server; the request itself never changes; `/approval` decides on conditions only. */
export const certificateSigningRequestStrategy: Strategy = {
  prepareForCreate(request: SigningRequest, { user }) {
    request.spec = {
      ...request.spec,
      username: user.username,
      groups: [...user.groups],
      ...(user.uid === undefined ? {} : { uid: user.uid }),
    };
  },
  prepareForUpdate(next: SigningRequest, previous: SigningRequest, { subresource }) {
    next.spec = previous.spec ?? {};
    if (subresource !== 'approval') return;
    const { conditions } = next.status ?? {};
    next.status = { ...previous.status, ...(conditions === undefined ? {} : { conditions }) };
  },
};
