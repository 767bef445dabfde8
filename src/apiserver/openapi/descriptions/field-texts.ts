/** Own sentences by `group.Type` (of whatever version; `core` for the group without a name, `meta` for what all groups share) and field. */
export type FieldTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;
