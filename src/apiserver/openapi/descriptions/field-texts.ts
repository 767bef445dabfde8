/** Our descriptions by `group.Type` (for all versions; `core` for the core group, `meta` for shared types) and field. */
export type FieldTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;
