/** Returns the kind of a failure, without the names and numbers of this one history: shrinking must not slip from one fault to another. */
export function failureKind(wrong: readonly string[]): string {
  const first = (wrong[0] ?? '').split('\n')[0] ?? '';
  return first
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    .replaceAll(/\b[A-Z]\w+ \S*\/\S+/g, 'object')
    .replaceAll(/\d+/g, '#');
}
