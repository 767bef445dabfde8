/** The flags of every command that logs. Their group is last in the help. */
export const logLevelOption = {
  group: 'Logging:',
  flags: '--log-level <LEVEL>',
  description: 'minimum log level',
  choices: ['debug', 'info', 'warn', 'error', 'silent'],
  default: 'info',
} as const;

export const logFormatOption = {
  group: 'Logging:',
  flags: '--log-format <FORMAT>',
  description: 'log format: text or json',
  choices: ['text', 'json'],
  default: 'text',
} as const;
