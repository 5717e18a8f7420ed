import type { Variables } from '../../shops/shop-settings.ts'

export const logVariables = {
  TLOG: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with settings of the transparency log: anchors, witnesses, monitor; docs/citations.md lists the members.',
    secret: false,
  },
} as const satisfies Variables
