import type { Variables } from '../../http/index.ts'

export const consoleVariables = {
  OPERATORS: {
    kind: 'list',
    shown: '`PAY_TO`',
    description:
      "Wallets, comma-separated, that may read the books on the operator's page of the console and pause and resume.",
    secret: false,
  },
} as const satisfies Variables
