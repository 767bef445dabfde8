import type { CelAuthorizationAttributes, CelAuthorizer, CelDecision } from '../../../api/cel/library/authorizer.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';

/** The value of `authorizer` in an expression: checks the rights of the request's user, or of another one. */
export class RequestAuthorizer implements CelAuthorizer {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  /** Selectors only narrow the request, so a user who may access all of it may access a part. */
  authorize(attributes: CelAuthorizationAttributes): CelDecision {
    const { verb } = attributes;
    const user = this.#user;
    if (attributes.kind === 'path') {
      const none = { group: '', resource: '', subresource: '', namespace: '', name: '' };
      return this.#authorizer.authorize({ user, verb, isResource: false, path: attributes.path, ...none });
    }
    const { group, resource, subresource, namespace, name } = attributes;
    const asked = { group, version: '*', resource, subresource, namespace, name };
    return this.#authorizer.authorize({ user, verb, isResource: true, path: '', ...asked });
  }

  forServiceAccount(namespace: string, name: string): CelAuthorizer {
    return new RequestAuthorizer(this.#authorizer, {
      username: `system:serviceaccount:${namespace}:${name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    });
  }
}
