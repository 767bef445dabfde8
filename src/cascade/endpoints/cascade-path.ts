/** The path below which the cascade documents are served. */
export const CASCADE_PATH = '/kubegc/v1';
