import { isJsonObject } from '../../api/codec/json/json-value.ts';

/** The labels of an image, as its configuration has them. */
export type ImageLabels = Readonly<Record<string, string>>;

type JsonObject = Readonly<Record<string, unknown>>;

/** Undefined for everything but a JSON object. */
const objectOf = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

/** Undefined when the text is not a JSON object. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    // Not JSON: a runtime may report any text.
    return undefined;
  }
}

/** An image without labels has none of them, which is known; labels that are no texts are not known. */
function labelsOf(value: unknown): ImageLabels | undefined {
  if (value === undefined || value === null) return {};
  const labels = objectOf(value);
  return labels !== undefined && Object.values(labels).every((each) => typeof each === 'string')
    ? (labels as ImageLabels)
    : undefined;
}

/** Labels in a configuration of the OCI image specification. */
function labelsOfObject(configuration: JsonObject | undefined): ImageLabels | undefined {
  const config = objectOf(configuration?.['config']);
  return config && labelsOf(config['Labels']);
}

/** Reads the labels from the text of an image's configuration. Undefined when the text is no such configuration. */
export function labelsOfConfiguration(text: string): ImageLabels | undefined {
  return labelsOfObject(parsedObject(text));
}

/**
 * Reads the labels from the verbose information about an image. containerd and CRI-O report the configuration there as `imageSpec`.
 * Undefined when the runtime reports nothing of the kind.
 */
export function labelsOfInfo(info: Readonly<Record<string, string>>): ImageLabels | undefined {
  return labelsOfObject(objectOf(parsedObject(info['info'] ?? '')?.['imageSpec']));
}
