import type { Variables } from '../shop-settings.ts'

export const sandboxVariables = {
  SANDBOX: {
    kind: 'flag',
    default: 'false',
    demo: 'true',
    shown: 'on in demo',
    description: '`true` or `false`: sell `/v1/sandbox/echo`.',
    secret: false,
  },
} as const satisfies Variables
