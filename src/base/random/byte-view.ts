/** True if typed arrays of words are little-endian on this machine. */
export const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/**
 * The last array and its view. One suffices, because a reader takes thousands of objects from one chunk of a stream before it uses another.
 */
let bytesOfView: Uint8Array = new Uint8Array(0);
let view = new DataView(bytesOfView.buffer);

/**
 * Reads words at any position: one load and one bounds check instead of four. A view costs as much as reading a hundred words, so the last
 * one is cached.
 */
export function viewOf(bytes: Uint8Array): DataView {
  if (bytes !== bytesOfView) {
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    bytesOfView = bytes;
  }
  return view;
}
