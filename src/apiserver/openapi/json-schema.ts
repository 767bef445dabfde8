/** The subset of OpenAPI 3.0 schemas that Kubernetes publishes. Extensions begin with `x-kubernetes-`. */
export interface JsonSchema {
  description?: string;
  type?: string;
  format?: string;
  default?: unknown;
  enum?: readonly unknown[];
  $ref?: string;
  allOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  [extension: `x-kubernetes-${string}`]: unknown;
}

export type JsonSchemas = Record<string, JsonSchema>;
