/** Typed arrays of words have the byte order of the machine. */
export const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/**
 * The array that was asked about last, and its view. One is enough: thousands of objects lie in one piece of a stream, and
 * whoever reads them asks about nothing else in between.
 */
let bytesOfView: Uint8Array = new Uint8Array(0);
let view = new DataView(bytesOfView.buffer);

/**
 * The bytes as words at any place: one load and one check of bounds, where four bytes would be four of each. Making a
 * view costs as much as reading a hundred words, so that the last one is kept.
 */
export function viewOf(bytes: Uint8Array): DataView {
  if (bytes !== bytesOfView) {
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    bytesOfView = bytes;
  }
  return view;
}
