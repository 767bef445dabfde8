/**
 * The line that says which kinds are missing in an answer.
 * @param resources names, as `secrets, roles.rbac.authorization.k8s.io`
 */
export function unreadWarning(resources: string, reason: string): string {
  return `Warning: ${resources} could not be read, and what is in there is missing here: ${reason}\n`;
}
