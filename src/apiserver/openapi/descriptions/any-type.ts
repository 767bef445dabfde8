const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** The fields that say which kind an object is. Clients compare these texts: they are Kubernetes' (API-417). */
export const TYPE_META_FIELDS = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
} as const;

/** Descriptions for fields of these names, in types that have none of their own. */
export const COMMON_FIELDS = {
  apiVersion: 'Group and version of the API the object is written in, such as apps/v1.',
  conditions: 'Conditions of the object at present.',
  items: 'The objects of the list.',
  kind: 'Name of the type of the object, such as Deployment.',
  observedGeneration: 'The metadata.generation the status is about; with an older one it is not up to date.',
  spec: 'What is wanted.',
  status: 'The last observed state. Written by controllers.',
} as const;

/** Descriptions of `metadata`, by the type of the field, in Kubernetes' words. */
export const METADATA_FIELDS = {
  ObjectMeta: `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
  ListMeta: `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
} as const;

/** Descriptions for every type whose name ends in `Condition`. */
export const CONDITION_FIELDS = {
  lastProbeTime: 'Time of the last probe.',
  lastTransitionTime: 'When the status last changed.',
  message: 'Why it is so, for people.',
  observedGeneration: 'The metadata.generation it is about; with an older one it is not up to date.',
  reason: 'Why it is so, in one word for programs.',
  status: 'True, False or Unknown.',
  type: 'Subject of the condition, such as Ready.',
} as const;
