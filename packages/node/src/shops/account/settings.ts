import type { Variables } from '../shop-settings.ts'

export const accountVariables = {
  CREDIT: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object: what a refund of credit costs and how long a bond takes to come back; docs/credit.md lists the members.',
    secret: false,
  },
  INVOICES: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object: who sells and with which tax, for invoices and receipts; [being paid](operations.md#invoices) lists the members.',
    secret: false,
  },
} as const satisfies Variables
