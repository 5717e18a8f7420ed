import type { Variables } from '../shop-settings.ts'

/** Also for shops that sell by subscription: they read its prices and limits. */
export const subscriptionsVariables = {
  SUBSCRIPTIONS: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object: prices, fair-use limits and covered routes of subscriptions; docs/commerce.md lists the members.',
    secret: false,
  },
} as const satisfies Variables

export const subscriptionsMigrations = new URL('./migrations/', import.meta.url)
