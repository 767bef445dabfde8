import type { StatusError } from '../../api/status-error.ts';
import { newForbidden } from '../../api/status-error.ts';
import type { AuthorizationAttributes } from './authorizer.ts';

/** The 403 of a refused request, in the exact words that clients match (API-042). */
export function forbidden(attributes: AuthorizationAttributes, reason = ''): StatusError {
  const why = withoutMarkup(describe(attributes));
  return newForbidden(
    { group: attributes.group, resource: attributes.resource },
    attributes.name,
    reason === '' ? why : `${why}: ${reason}`,
  );
}

function describe(attributes: AuthorizationAttributes): string {
  const who = `User ${JSON.stringify(attributes.user.username)} cannot ${attributes.verb}`;
  if (!attributes.isResource) return `${who} path ${JSON.stringify(attributes.path)}`;
  const resource =
    attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const what = `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(attributes.group)}`;
  return attributes.namespace === ''
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${JSON.stringify(attributes.namespace)}`;
}

/** Escapes the text, so that a user name or path cannot become markup in a browser. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
