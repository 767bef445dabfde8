/** The server sent something that is not what its content type says. Lists again are the cure; the object is unknown. */
export class DecodeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DecodeError';
  }
}
